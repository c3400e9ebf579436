// Thing: what Redisson has of a kind, so that an actor takes and gives it back without asking which it is.
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

abstract class Thing {
    static final long FOREVER_MS = 10 * 60 * 1000;

    /** Options: wait (ms; without it, forever), lease (ms; without it, the watchdog renews), permits. */
    abstract boolean take(Words options) throws InterruptedException;

    abstract void release();

    /** What only some kinds know. */
    Object ask(String verb, Words options) {
        throw new IllegalArgumentException("no such verb: " + verb);
    }

    /** What history says of it: that it has a token, or none. */
    String token() {
        return "none";
    }

    static long waitMs(Words options) {
        return options.number("wait", FOREVER_MS);
    }

    static long leaseMs(Words options) {
        return options.number("lease", -1);
    }

    static int permits(Words options) {
        return (int) options.number("permits", 1);
    }

    @SuppressWarnings("deprecation") // RedLock, which users have
    static Thing of(String kind, String name, List<RedissonClient> clients) {
        RedissonClient client = clients.get(0);
        switch (kind) {
        case "lock": return new Lock(client.getLock(name));
        case "fenced": return new Fenced(client.getFencedLock(name));
        case "fair": return new Lock(client.getFairLock(name));
        case "read": return new Lock(client.getReadWriteLock(name).readLock());
        case "write": return new Lock(client.getReadWriteLock(name).writeLock());
        case "multi": return new Lock(client.getMultiLock(
            Arrays.stream(name.split(",")).map(client::getLock).toArray(RLock[]::new)));
        case "red": return new Lock(client.getRedLock(
            clients.stream().map(each -> each.getLock(name)).toArray(RLock[]::new)));
        case "sem": return new Plain(client.getSemaphore(name));
        case "permits": return new Permits(client.getPermitExpirableSemaphore(name));
        case "latch": return new Latch(client.getCountDownLatch(name));
        default: throw new IllegalArgumentException("no such kind: " + kind);
        }
    }

    static class Lock extends Thing {
        private final RLock lock;

        Lock(RLock lock) {
            this.lock = lock;
        }

        @Override
        boolean take(Words options) throws InterruptedException {
            if (options.text("wait") != null)
                return lock.tryLock(waitMs(options), leaseMs(options), TimeUnit.MILLISECONDS);
            lock.lockInterruptibly(leaseMs(options), TimeUnit.MILLISECONDS);
            return true;
        }

        @Override
        void release() {
            lock.unlock();
        }

        @Override
        Object ask(String verb, Words options) {
            switch (verb) {
            case "held": return lock.isHeldByCurrentThread();
            case "holds": return lock.getHoldCount();
            case "locked": return lock.isLocked();
            case "force": return lock.forceUnlock();
            default: return super.ask(verb, options);
            }
        }
    }

    static final class Fenced extends Lock {
        private final RFencedLock lock;
        private Long token;

        Fenced(RFencedLock lock) {
            super(lock);
            this.lock = lock;
        }

        @Override
        boolean take(Words options) {
            token = lock.tryLockAndGetToken(waitMs(options), leaseMs(options), TimeUnit.MILLISECONDS);
            return token != null;
        }

        @Override
        String token() {
            return token.toString();
        }
    }

    static final class Plain extends Thing {
        private final RSemaphore semaphore;
        private int taken;

        Plain(RSemaphore semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        boolean take(Words options) throws InterruptedException {
            taken = permits(options);
            return semaphore.tryAcquire(taken, Duration.ofMillis(waitMs(options)));
        }

        @Override
        void release() {
            semaphore.release(taken);
        }

        @Override
        Object ask(String verb, Words options) {
            switch (verb) {
            case "set": return semaphore.trySetPermits(permits(options));
            case "available": return semaphore.availablePermits();
            default: return super.ask(verb, options);
            }
        }
    }

    static final class Permits extends Thing {
        private final RPermitExpirableSemaphore semaphore;
        private List<String> ids;

        Permits(RPermitExpirableSemaphore semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        boolean take(Words options) throws InterruptedException {
            ids = semaphore.tryAcquire(permits(options), waitMs(options), leaseMs(options), TimeUnit.MILLISECONDS);
            return !ids.isEmpty();
        }

        @Override
        void release() {
            semaphore.release(ids);
        }

        @Override
        Object ask(String verb, Words options) {
            switch (verb) {
            case "set": return semaphore.trySetPermits(permits(options));
            case "available": return semaphore.availablePermits();
            case "renew":
                return ids.stream().allMatch(
                    id -> semaphore.updateLeaseTime(id, leaseMs(options), TimeUnit.MILLISECONDS));
            default: return super.ask(verb, options);
            }
        }
    }

    static final class Latch extends Thing {
        private final RCountDownLatch latch;

        Latch(RCountDownLatch latch) {
            this.latch = latch;
        }

        @Override
        boolean take(Words options) throws InterruptedException {
            return latch.await(waitMs(options), TimeUnit.MILLISECONDS);
        }

        @Override
        void release() {}

        @Override
        Object ask(String verb, Words options) {
            switch (verb) {
            case "set": return latch.trySetCount(options.number("count", 1));
            case "down": latch.countDown(); return true;
            case "count": return latch.getCount();
            default: return super.ask(verb, options);
            }
        }
    }
}
