package inputs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Shape is the purpose of a set of arguments.
type Shape string

// The shapes.
const (
	ShapeRequired  Shape = "Required"  // only the required properties
	ShapeAll       Shape = "All"       // the optional ones, too
	ShapeOne       Shape = "One"       // a single optional one
	ShapeInvalid   Shape = "Invalid"   // slightly against the schema
	ShapeHarvested Shape = "Harvested" // a value that the server itself named
	ShapeInjection Shape = "Injection" // texts that a shell would run
	ShapeOutside   Shape = "Outside"   // paths that lead out of the tool's directory
)

// Proper reports whether a server should accept such arguments.
func (s Shape) Proper() bool { return s != ShapeInvalid && s.Feeds() }

// Feeds reports whether other tools may be called with the result.
func (s Shape) Feeds() bool { return s != ShapeInjection && s != ShapeOutside }

// Origin names the source of a value that was not made up.
type Origin struct{ Argument, Value, Source string }

// String is one clause: `ticket_id "TICK-3" from the result of tool list_tickets`.
func (o Origin) String() string {
	return fmt.Sprintf("%s %q from %s", o.Argument, o.Value, o.Source)
}

// Case is one set of arguments.
type Case struct {
	// Arguments is a JSON object; of a template it is {"uri": "..."}.
	Arguments json.RawMessage
	Shape     Shape
	// Origins of what the server itself named.
	Origins []Origin

	taken  set
	trials []trial
	placed []placed
}

// Form fills in the arguments of one tool, prompt or template, call by call. It is
// for one goroutine at a time.
type Form struct {
	options  Options
	about    []string
	root     any
	tree     *node
	template *template
	given    map[string]any
	leaves   map[string]*leaf
	sole     bool
	// members are the names of all properties, by their words: quoted in a description, one is no value.
	members map[string]bool

	// reachable are the branches that valid arguments can take,
	// sent those that a case took, done those that were answered, accepted those
	// that were answered with a result.
	reachable, sent, done, accepted set
	cut                             bool

	// effort bounds the search for valid arguments, after which possibly valid ones will do.
	effort int

	// turn counts the calls for branches, made all that were made.
	turn    int
	made    int
	started bool
	ones    []string
	invalid []damage
	probed  bool // by an injection
	// lessons hold what refusals taught, by place. repair: something was learned since
	// the last call; repairs counts the calls for that.
	lessons map[string]*lesson
	// objects are the properties that texts may tie, told the ties that they told, by place.
	objects []*members
	told    map[string][]tie
	// refused is the call that the next one repairs; nil for another.
	repair  bool
	repairs int
	refused *refusal
	// complaint is the last refusal, and same counts how often it came in a row.
	complaint string
	same      int
	// followed are the arguments of the calls that were followed, by target.
	followed map[string]string
	// succeeded: a call that a model would make was accepted.
	succeeded bool
	// undeclared counts the additions of errors to an empty schema, opened those to objects in another.
	undeclared, opened int
	// requiresText: a required property is, or contains, a text.
	requiresText bool
	escapes      []func(Options) string
}

// NewForm is for a tool's inputSchema. Anything but an object schema has no branches,
// and its only arguments are {}.
func NewForm(schema json.RawMessage, o Options) *Form {
	root, _ := Decode(schema).(map[string]any)
	if root == nil {
		root = map[string]any{}
	}
	return newForm(root, o)
}

func newForm(root map[string]any, o Options) *Form {
	b := builder{resolver: resolver{root: root, allowance: 4 * budget}}
	f := &Form{options: o, about: split(o.About), root: root}
	f.leaves, f.lessons, f.told, f.followed = map[string]*leaf{}, map[string]*lesson{}, map[string][]tie{}, map[string]string{}
	f.given, _ = Decode(o.Given).(map[string]any)
	f.tree = b.link(b.build(map[string]any{"allOf": []any{root, map[string]any{"type": "object"}}}, place{}))
	f.sole, f.members = len(slices.Collect(f.tree.leaves())) == 1, map[string]bool{}
	for each := range f.tree.properties() {
		f.members[asWords(each.name)] = true
	}
	f.cut = b.branches.cut
	f.readDescriptions()
	f.explore()
	f.ones = f.tree.optional()
	f.requiresText = slices.ContainsFunc(f.outermost(), func(each field) bool { return each.required && each.node.textual() })
	f.invalid, f.escapes = damages, ways
	return f
}

// NewPromptForm is for the "arguments" of a prompt in prompts/list
// ([{"name", "description", "required"}]). All values are texts.
func NewPromptForm(arguments json.RawMessage, o Options) *Form {
	given, _ := Decode(arguments).([]any)
	properties, required := map[string]any{}, []any{}
	for _, entry := range list(given, maxFields) {
		argument, _ := entry.(map[string]any)
		name, _ := argument["name"].(string)
		if name == "" {
			continue
		}
		properties[name] = map[string]any{"type": "string", "description": argument["description"]}
		if argument["required"] == true {
			required = append(required, name)
		}
	}
	return newForm(map[string]any{"properties": properties, "required": required}, o)
}

// explore finds the reachable branches: other keywords of the schema forbid some in the tree.
func (f *Form) explore() {
	f.reachable, f.effort = f.tree.below, 32*budget
	var seen set
	for branch := f.tree.below.first(); branch >= 0; branch = f.tree.below.without(seen).first() {
		seen.add(branch)
		d, ok := f.aimed(ShapeAll, branch, nil, Mark{Seed: f.options.Seed})
		switch {
		case !ok && f.effort > 0:
			f.reachable = f.reachable.without(only(branch))
		case ok:
			seen.join(d.taken)
		}
	}
}

// attempts bounds how often arguments are made anew if they do not fit the schema.
const attempts = 6

// aimed makes arguments that take a branch, or any with -1, and fit the schema;
// failing that, arguments that could fit with other texts and numbers; false for none.
func (f *Form) aimed(shape Shape, branch int, pool *Pool, m Mark) (best *draft, ok bool) {
	most := no
	for i := range attempts {
		d := f.draft(shape, branch, pool, m)
		if i > 0 {
			d.random = rand.New(rand.NewPCG(uint64(f.options.Seed), uint64(branch*attempts+i+1)))
		}
		d.make()
		f.effort -= budget - int(d.allowance)
		found := no
		if branch < 0 || d.taken.has(branch) {
			found = d.fits()
		}
		if best == nil || found > most {
			best, most = d, found
		}
		if most == yes || f.effort < 0 {
			break
		}
	}
	return best, most > no
}

func (f *Form) draft(shape Shape, aim int, pool *Pool, m Mark) *draft {
	d := &draft{form: f, pool: pool, mark: m, shape: shape, aim: aim, allowance: budget}
	if shape == ShapeRequired {
		d.repairs = f.refused
		d.made = f.madeBefore(pool)
	}
	if shape == ShapeHarvested {
		lead, _ := d.untried(f.tree)
		d.lead = lead.records
	}
	return d
}

// make fills in the tree.
func (d *draft) make() {
	d.arguments, _ = d.value(d.form.tree, 0).(map[string]any)
	if d.arguments == nil {
		d.arguments = map[string]any{}
	}
}

// fits checks the arguments against the schema, except those that the operator gave, and as long as
// there is effort left.
func (d *draft) fits() verdict {
	switch {
	case len(d.form.given) > 0:
		return yes
	case d.form.effort < 0:
		return maybe
	}
	found, cost := fits(d.form.root, Decode([]byte(canonical(d.arguments))), maybe)
	d.form.effort -= cost
	return found
}

// Next makes the next arguments that are worth sending; false when there is
// nothing new until the pool grows.
// It first covers the branches and tries harvested values, then
// gives each optional property by itself, and last makes slightly invalid arguments and paths that lead
// out of the directory of the tool. One call in between, or at the
// end, contains an Injection. The pool may be nil.
func (f *Form) Next(pool *Pool, mark Mark) (Case, bool) {
	f.effort = 4 * budget
	if !f.started {
		f.started = true
		d, ok := f.aimed(ShapeRequired, -1, pool, mark)
		if !ok { // sent all the same, but what does not fit takes no branch
			d.taken = set{}
		}
		return f.send(d), true
	}
	for _, next := range []func(*Pool, Mark) (Case, bool){f.following, f.repaired} {
		if c, ok := next(pool, mark); ok {
			return c, true
		}
	}
	if f.made >= maxHonest {
		if c, ok := f.injecting(pool, mark); ok {
			return c, true
		}
	}
	for branch := f.unsent(); branch >= 0; branch = f.unsent() {
		if f.turn++; f.turn%3 == 0 { // branches and harvested values take turns
			if c, ok := f.harvested(branch, pool, mark); ok {
				return c, true
			}
		}
		d, ok := f.aimed(ShapeAll, branch, pool, mark)
		f.sent.add(branch) // if not now, then never
		if ok {
			return f.send(d), true
		}
	}
	if c, ok := f.harvested(-1, pool, mark); ok {
		return c, true
	}
	for _, next := range []func(*Pool, Mark) (Case, bool){f.one, f.damaged, f.escaping, f.injecting} {
		if c, ok := next(pool, mark); ok {
			return c, true
		}
	}
	return Case{}, false
}

// unsent returns a branch that no call has taken; -1 for none.
func (f *Form) unsent() int { return f.reachable.without(f.sent).first() }

// harvested tries a new value of the pool, and takes a branch with it.
func (f *Form) harvested(branch int, pool *Pool, mark Mark) (Case, bool) {
	if !f.draft(ShapeHarvested, branch, pool, mark).hasUntried(f.tree) {
		return Case{}, false
	}
	d, ok := f.aimed(ShapeHarvested, branch, pool, mark)
	if !ok || !d.novel() {
		return Case{}, false
	}
	return f.send(d), true
}

// one gives a single optional property.
func (f *Form) one(pool *Pool, mark Mark) (Case, bool) {
	for len(f.ones) > 0 {
		name := f.ones[0]
		f.ones = f.ones[1:]
		d := f.draft(ShapeOne, -1, pool, mark)
		d.only = name
		if d.make(); d.fits() != no {
			return f.send(d), true
		}
	}
	return Case{}, false
}

// send makes the case of a draft, and notes what it tries.
func (f *Form) send(d *draft) Case {
	f.sent.join(d.taken)
	f.made++
	if d.made != nil {
		f.followed[d.made.source] = canonical(d.made.arguments)
	}
	c := Case{Shape: d.shape, taken: d.taken, trials: d.trials, placed: d.placed, Arguments: json.RawMessage(canonical(d.arguments))}
	for _, t := range d.trials {
		f.leaves[t.at].tried[t.candidate.key()] = true
		if t.candidate.source != "" && !t.moved {
			c.Origins = append(c.Origins, Origin{Argument: t.argument, Value: plain(t.candidate.value), Source: t.candidate.source})
		}
	}
	if f.template != nil {
		c.Arguments = f.template.arguments(d.arguments)
	}
	return c
}

// novel reports whether the arguments have an untried candidate.
func (d *draft) novel() bool {
	return slices.ContainsFunc(d.trials, func(t trial) bool { return !d.form.leaves[t.at].tried[t.candidate.key()] })
}

// Answered records that a call was answered; accepted: with a result that is not an error.
func (f *Form) Answered(c Case, accepted bool) {
	f.done.join(c.taken)
	if !accepted || !c.Shape.Proper() {
		return
	}
	f.accepted.join(c.taken)
	f.succeeded = true
	f.took(c)
	for _, t := range c.trials {
		known := f.lessons[t.at]
		if !t.candidate.guess || known != nil {
			f.leaves[t.at].best = &t.candidate
		}
	}
	for _, p := range c.placed {
		if known := f.lessons[p.at]; known != nil {
			delete(known.refused, p.value)
		}
	}
}

// Branches counts the branches of the schema, and those that an answered call took. A
// schema that is too large to be walked completely has one more, which is never done.
func (f *Form) Branches() (total, done int) {
	if f.undeclared > 0 {
		return 0, 0
	}
	total, done = f.reachable.len(), f.done.and(f.reachable).len()
	if f.cut {
		total++
	}
	return total, done
}
