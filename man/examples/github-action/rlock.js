// rlock.js: runs rlock with what the inputs say of the server.
'use strict';

const { spawn } = require('child_process');
const os = require('os');

function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] || '').trim();
}

// A message in the job's summary. Its line breaks are written as the runner wants them.
function annotate(level, text) {
  process.stdout.write(`::${level}::${text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')}\n`);
}

function environment() {
  const env = { ...process.env };
  if (input('server') !== '') {
    env.RLOCK_SERVER = input('server');
  }
  if (input('password') !== '') {
    env.RLOCK_PASSWORD = input('password');
  }
  return env;
}

// Its status and output; "pass" shows its messages in the log. A job that is cancelled signals us alone, so
// the signal is passed on: rlock leaves the line, and nothing is held.
function rlock(words, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(input('program') || 'rlock', words, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8').on('data', (text) => {
        said[stream] += text;
        if (options.pass && stream === 'stderr') {
          process.stderr.write(text);
        }
      });
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    const passOn = (signal) => child.kill(signal);
    signals.forEach((signal) => process.on(signal, passOn));
    child.on('error', (error) => {
      annotate('error', `cannot run rlock: ${error.message}`);
      resolve({ status: 127, ...said });
    });
    child.on('close', (code, signal) => {
      signals.forEach((name) => process.removeListener(name, passOn));
      resolve({ status: code === null ? 128 + os.constants.signals[signal] : code, ...said });
    });
  });
}

module.exports = { input, annotate, rlock };
