// A server whose guards look at one argument, and at texts only, as long as it is not told that they are "fixed":
//
//   node lookup.js [fixed]
//
// call_helper finds a helper by a dotted name, also what each object inherits, and runs what a helper returns. show_note and
// show_host search a text for what is not allowed, but take a list for one. save_notes looks at the texts of notes and
// not at their names. It needs no package.
import { execFileSync, execSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { speak } from './stdio.js';

const fixed = process.argv[2] === 'fixed';
const notes = '/var/tmp/lookup-notes';
const text = (description) => ({ type: 'string', description });

function isText(value, allowed) {
  if (fixed && typeof value !== 'string') throw new Error('a text is needed');
  if (typeof value === 'string' && !allowed.test(value)) throw new Error('the text has a character that is not allowed');
  return value;
}

const helpers = { text: { upper: (value) => String(value).toUpperCase(), later: (value) => () => value } };

const tools = {
  call_helper: {
    description: 'Applies a helper to a value.',
    properties: { fn: text('The helper, such as `text.upper`.'), value: text('The value, such as `hello`.') },
    call({ fn, value }) {
      const helper = fn.split('.').reduce((at, key) => (fixed && !Object.hasOwn(at, key) ? undefined : at?.[key]), helpers);
      if (typeof helper !== 'function') throw new Error('there is no such helper');
      const result = helper(value);
      return String(typeof result === 'function' ? result() : result);
    },
  },
  show_note: {
    description: 'Shows a note.',
    properties: { name: text('The name of the note, such as `a.md`.') },
    call: ({ name }) => readFileSync(`${notes}/${isText(name, /^[\w-]+\.md$/)}`, 'utf8'),
  },
  show_host: {
    description: 'Shows the name of a host by running echo.',
    properties: { host: text('The host, such as `example.com`.') },
    call: ({ host }) => (fixed ? execFileSync('echo', [isText(host, /^[\w.-]+$/)]) : execSync(`echo ${isText(host, /^[\w.-]+$/)}`)).toString(),
  },
  save_notes: {
    description: 'Saves notes in the directory of notes.',
    properties: { notes: { type: 'object', description: 'The texts of the notes by their names, such as {"b.md": "Hi"}.', additionalProperties: { type: 'string' } } },
    call({ notes: given }) {
      for (const [name, note] of Object.entries(given)) writeFileSync(path.join(notes, fixed ? path.basename(name) : name), String(note));
      return 'saved';
    },
  },
};

mkdirSync(notes, { recursive: true });
writeFileSync(`${notes}/a.md`, 'Be plain.\n');
speak('lookup', {
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { description, properties }]) => ({ name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) } })),
  }),
  'tools/call': ({ name, arguments: given }) => ({ content: [{ type: 'text', text: tools[name].call(given ?? {}) }] }),
});
