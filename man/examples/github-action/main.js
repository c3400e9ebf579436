// main.js: takes the lock, and leaves its handle for post.js and for the steps that follow.
'use strict';

const fs = require('fs');
const { input, rlock, annotate } = require('./rlock.js');

// keep FILE-VARIABLE NAME VALUE: as the runner wants it. Neither value has a line break.
function keep(file, name, value) {
  fs.appendFileSync(process.env[file], `${name}=${value}\n`);
}

function words() {
  const names = input('name').split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const list = ['acquire', input('kind') || 'fair', '--export'];
  names.forEach((name) => list.push('--name', name));
  list.push('--wait', input('wait') || '30m', '--lease', input('lease') || '1h');
  if (input('note') !== '') {
    list.push('--note', input('note'));
  }
  return list;
}

// What --export printed: RLOCK_HANDLE=..., RLOCK_TOKEN=..., a line each; empty if there is none.
function valueOf(name, text) {
  const line = text.split('\n').find((each) => each.startsWith(`${name}=`));
  return line === undefined ? '' : line.slice(name.length + 1);
}

async function main() {
  const { status, stdout } = await rlock(words(), { pass: true });
  const handle = valueOf('RLOCK_HANDLE', stdout);
  if (handle === '') {
    annotate('error', `no lock: rlock exited with status ${status}`);
    return status || 1;
  }
  process.stdout.write(`::add-mask::${handle}\n`); // whoever has it can give the lock back
  keep('GITHUB_STATE', 'handle', handle);
  if (status !== 0) {
    return status;
  }
  const token = valueOf('RLOCK_TOKEN', stdout);
  keep('GITHUB_ENV', 'RLOCK_HANDLE', handle);
  keep('GITHUB_ENV', 'RLOCK_TOKEN', token);
  keep('GITHUB_OUTPUT', 'handle', handle);
  keep('GITHUB_OUTPUT', 'token', token);
  return 0;
}

main().then((status) => { process.exitCode = status; });
