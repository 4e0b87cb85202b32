// A server whose guards let something through, as long as it is not told that they are "fixed":
//
//   node guards.js [fixed]
//
// show_page takes what is a URL for harmless, show_branch knows some characters of the shell, greet fills in a form by
// evaluating it, and the template notes://{name} has its variable decoded after the guard. find_files allows programs that
// run others, show_labels looks at no element of a list, and the template branch://{repository}/{name} and the prompt
// explain give their texts to a shell. It needs no package.
import { execFileSync, execSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { speak } from './stdio.js';

const fixed = process.argv[2] === 'fixed';
const notes = '/var/tmp/guards-notes';

// run starts echo, by a shell unless the guards hold.
const run = (value) => (fixed ? execFileSync('echo', [value]) : execSync(`echo "${value}"`)).toString();

const tools = {
  show_page: {
    description: 'Shows the address of a web page by running echo.',
    argument: 'url',
    call(url) {
      new URL(url); // throws for what is none
      return run(url);
    },
  },
  show_branch: {
    description: 'Shows the name of a branch by running echo.',
    argument: 'branch',
    call(branch) {
      if (!fixed && /[`$;&\n]/.test(branch)) throw new Error('the branch has a character that is not allowed');
      return run(branch);
    },
  },
  greet: {
    description: 'Greets whom it is told to, in the form that it is given.',
    argument: 'form',
    call: (form) => (fixed ? form.replaceAll('${name}', 'you') : new Function('name', `return \`${form}\``)('you')),
  },
  find_files: {
    description: 'Looks for files with one of the programs ls and find: `ls`.',
    argument: 'command',
    call(command) {
      const words = command.split(/\s+/);
      if (!['ls', 'find'].includes(words[0])) throw new Error('the program is not allowed');
      if (fixed && words.some((word) => word.startsWith('-') && word !== '-name')) throw new Error('the option is not allowed');
      return execFileSync(words[0], words.slice(1)).toString();
    },
  },
  show_labels: {
    description: 'Shows labels by running echo.',
    argument: 'options',
    schema: { type: 'object', properties: { labels: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } } } },
    call: (options) => (options.labels ?? []).map(run).join(''),
  },
};

function read(uri) {
  const branch = uri.match(/^branch:\/\/([a-z]+|[a-z]{6}-[a-z]\d+)\/([^/]+)$/);
  if (branch) return run(branch[2]);
  const name = uri.slice('notes://'.length);
  if (name.includes('/') || name.includes('..')) throw new Error('the name of a note has no directory');
  const file = path.join(notes, decodeURIComponent(name));
  if (fixed && path.dirname(file) !== notes) throw new Error('the note is not in the directory of notes');
  return readFileSync(file, 'utf8');
}

mkdirSync(notes, { recursive: true });
writeFileSync(path.join(notes, 'style.txt'), 'Be plain.\n');
speak('guards', {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: 'guards', version: '1.0.0' } }),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { description, argument, schema }]) => ({
      name, description, inputSchema: { type: 'object', properties: { [argument]: schema ?? { type: 'string' } }, required: [argument] },
    })),
  }),
  'tools/call': ({ name, arguments: given }) => {
    try {
      return { content: [{ type: 'text', text: tools[name].call(tools[name].schema ? given[tools[name].argument] : String(given[tools[name].argument])) }] };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: error.message }] };
    }
  },
  'resources/list': () => ({ resources: [{ uri: 'notes://style.txt', name: 'style.txt' }] }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'notes://{name}', name: 'note' }, { uriTemplate: 'branch://{repository}/{name}', name: 'branch', description: 'Shows a branch by running echo.' }],
  }),
  'prompts/list': () => ({ prompts: [{ name: 'explain', description: 'Explains a word by running echo.', arguments: [{ name: 'word' }] }] }),
  'prompts/get': ({ arguments: { word } }) => ({ messages: [{ role: 'user', content: { type: 'text', text: run(word ?? '') } }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: read(uri) }] }),
});
