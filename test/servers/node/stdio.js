// The servers that need no package speak MCP over stdio by this.
import { createInterface } from 'node:readline';

// speak answers requests until stdin ends: with what a method returns, or an error if it throws. It
// leaves a request unanswered if that is undefined. A server has tools unless its methods say else.
export function speak(name, methods) {
  const all = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: '1.0.0' } }),
    ping: () => ({}),
    ...methods,
  };
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = await respond(all[method], params ?? {});
    if (answer) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  });
}

async function respond(method, params) {
  if (!method) return { error: { code: -32601, message: 'method not found' } };
  try {
    const result = await method(params);
    return result && { result };
  } catch (error) {
    return { error: { code: -32602, message: error.message } };
  }
}
