-- What Argo CD makes of the kinds of mcpaudit.dev, one script for all of them. They have
-- the same conditions (kstatus): Ready, and while they are true Reconciling and Stalled.
-- Argo CD runs it without Lua's libraries but base and table, and for one second.

-- What is not there, or not what it should be, is an empty table or text.
local function tableOf(value) if type(value) == "table" then return value end return {} end
local function textOf(value) if type(value) == "string" then return value end return "" end

local function health(status, condition, otherwise)
  local message = textOf(condition.message)
  if message == "" then message = textOf(condition.reason) end
  if message == "" then message = otherwise end
  return {status = status, message = message}
end

-- A report is written once, complete, and has no status.
if obj.kind == "MCPAuditReport" then
  return {status = "Healthy", message = "The report is complete"}
end

local status = tableOf(obj.status)
local conditions = {}
for _, condition in pairs(tableOf(status.conditions)) do
  local kind = tableOf(condition).type
  if type(kind) == "string" then conditions[kind] = condition end
end
local function of(kind) return conditions[kind] or {} end
local function isTrue(kind) return of(kind).status == "True" end
local ready = of("Ready")

-- The status is about an older spec: what is done about that is the audit's Auditing.
local generation, observed = tableOf(obj.metadata).generation, status.observedGeneration
if type(observed) ~= "number" or type(generation) ~= "number" or observed < generation then
  local doing = {}
  if isTrue("Auditing") then doing = of("Auditing") end
  return health("Progressing", doing, "Waiting for the operator to read the spec")
end

-- What somebody has stopped on purpose. An exception that has ended is none of that: a
-- sync would wait for it.
if ready.status == "False" and ready.reason == "Suspended" then
  return health("Suspended", ready, "")
end
if isTrue("Stalled") then return health("Degraded", of("Stalled"), "") end
if isTrue("Reconciling") then return health("Progressing", of("Reconciling"), "") end
if ready.status == "True" then return health("Healthy", ready, "") end
if ready.status == "False" then return health("Degraded", ready, "") end
return health("Progressing", ready, "Waiting for the condition Ready")
