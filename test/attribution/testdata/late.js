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

if (transport === 'stdio') {
  require('readline').createInterface({ input: process.stdin })
    .on('line', (call) => answer(call, () => process.stdout.write(`${call} is done\n`)));
} else {
  const server = require('http').createServer((request, response) => {
    let call = '';
    request.on('data', (chunk) => { call += chunk; });
    request.on('end', () => answer(call, () => response.end(`${call} is done`)));
  });
  server.listen(Number(transport), '127.0.0.1', () => touch('ready'));
}
