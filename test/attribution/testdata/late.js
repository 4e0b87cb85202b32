// A server of two calls that each leave a worker behind: see attribution_test.go.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');
const [transport, kind, dir] = process.argv.slice(2);

const at = (name) => `${dir}/${name}`;
const touch = (name) => fs.closeSync(fs.openSync(at(name), 'w'));

function when(name, then) {
  const timer = setInterval(() => {
    if (!fs.existsSync(at(name))) return;
    clearInterval(timer);
    then();
  }, 10);
}

function worker(trigger, call) {
  if (kind === 'process') {
    const script = `until [ -e ${at(trigger)} ]; do sleep 0.01; done; cat ${at(call)}-late; : >${at(call)}-done`;
    spawn('/bin/sh', ['-c', script], { stdio: 'ignore' });
    return;
  }
  when(trigger, () => {
    fs.readFileSync(at(`${call}-late`));
    touch(`${call}-done`);
  });
}

function answer(call, respond) {
  if (call === 'first') {
    worker('second-begun', 'first');
    respond();
    return;
  }
  worker('idle', 'second');
  touch('second-begun');
  when('first-done', respond);
}

// speak answers a message of MCP; without a text when it is one that has no answer.
function speak(message, respond) {
  const results = {
    initialize: {
      protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'late', version: '1' },
    },
    'tools/list': { tools: ['first', 'second'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
  };
  const send = (result) => respond(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  if (message.id === undefined) respond();
  else if (results[message.method]) send(results[message.method]);
  else answer(message.params.name, () => send({ content: [{ type: 'text', text: 'done' }] }));
}

if (transport === 'stdio') {
  require('readline').createInterface({ input: process.stdin })
    .on('line', (call) => answer(call, () => process.stdout.write(`${call} is done\n`)));
} else {
  const server = require('http').createServer((request, response) => {
    let call = '';
    request.on('data', (chunk) => { call += chunk; });
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
      } else if (call.startsWith('{')) {
        speak(JSON.parse(call), (text) => response.writeHead(text ? 200 : 202, { 'Content-Type': 'application/json' }).end(text));
      } else {
        answer(call, () => response.end(`${call} is done`));
      }
    });
  });
  server.listen(Number(transport), '127.0.0.1', () => touch('ready'));
}
