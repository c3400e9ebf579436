// post.js: gives the lock back, however the job ended. A lock that was lost meanwhile fails the job: what ran
// after that may have run beside another job.
'use strict';

const { rlock, annotate } = require('./rlock.js');

async function main() {
  const handle = process.env.STATE_handle || '';
  if (handle === '') { // main.js did not get it
    return 0;
  }
  const { status } = await rlock(['release', handle], { pass: true });
  if (status === 76) {
    annotate('error', 'the lock was not held any more when the job ended: give it a longer lease');
  } else if (status !== 0) {
    annotate('warning', `the lock may be held until its lease ends: rlock exited with status ${status}`);
  }
  return status === 76 ? 1 : 0;
}

main().then((status) => { process.exitCode = status; });
