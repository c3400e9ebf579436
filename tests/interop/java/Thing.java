// Thing: what Redisson has of a kind, by the verbs that it knows, so that an actor takes and gives it back without
// asking which it is.
//
// Options of take: wait (ms; without it, forever), lease (ms; without it, the watchdog renews), permits.
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

final class Thing {
    private static final long FOREVER_MS = 10 * 60 * 1000;
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    interface Verb {
        Object of(Words options) throws InterruptedException;
    }

    private final Map<String, Verb> verbs = new HashMap<>();
    String token = "none"; // as history has it
    private List<String> ids; // of the permits that it has
    private int taken;

    @SuppressWarnings("deprecation") // RedLock, which users have
    static Thing of(String kind, String name, List<RedissonClient> clients) {
        RedissonClient client = clients.get(0);
        switch (kind) {
        case "lock": return lock(client.getLock(name));
        case "fenced": return fenced(client.getFencedLock(name));
        case "fair": return lock(client.getFairLock(name));
        case "read": return lock(client.getReadWriteLock(name).readLock());
        case "write": return lock(client.getReadWriteLock(name).writeLock());
        case "multi": return lock(client.getMultiLock(
            Arrays.stream(name.split(",")).map(client::getLock).toArray(RLock[]::new)));
        case "red": return lock(client.getRedLock(
            clients.stream().map(each -> each.getLock(name)).toArray(RLock[]::new)));
        case "sem": return plain(client.getSemaphore(name));
        case "permits": return permits(client.getPermitExpirableSemaphore(name));
        case "latch": return latch(client.getCountDownLatch(name));
        default: throw new IllegalArgumentException("no such kind: " + kind);
        }
    }

    boolean take(Words options) throws InterruptedException {
        return (Boolean) ask("take", options);
    }

    void release() throws InterruptedException {
        ask("release", Words.of());
    }

    Object ask(String verb, Words options) throws InterruptedException {
        if (!verbs.containsKey(verb))
            throw new IllegalArgumentException("no such verb: " + verb);
        return verbs.get(verb).of(options);
    }

    private Thing can(String verb, Verb what) {
        verbs.put(verb, what);
        return this;
    }

    /** What has no answer. */
    private Thing does(String verb, Runnable what) {
        return can(verb, options -> {
            what.run();
            return true;
        });
    }

    private static long waitMs(Words options) {
        return options.number("wait", FOREVER_MS);
    }

    private static long leaseMs(Words options) {
        return options.number("lease", -1);
    }

    static int permits(Words options) {
        return (int) options.number("permits", 1);
    }

    private static Thing lock(RLock lock) {
        return new Thing()
            .can("take", options -> {
                if (options.text("wait") != null)
                    return lock.tryLock(waitMs(options), leaseMs(options), MS);
                lock.lockInterruptibly(leaseMs(options), MS);
                return true;
            })
            .does("release", lock::unlock)
            .can("held", options -> lock.isHeldByCurrentThread())
            .can("holds", options -> lock.getHoldCount())
            .can("locked", options -> lock.isLocked())
            .can("force", options -> lock.forceUnlock());
    }

    private static Thing fenced(RFencedLock lock) {
        Thing thing = lock(lock);
        return thing.can("take", options -> {
            Long token = lock.tryLockAndGetToken(waitMs(options), leaseMs(options), MS);
            thing.token = String.valueOf(token);
            return token != null;
        });
    }

    private static Thing plain(RSemaphore semaphore) {
        Thing thing = new Thing();
        return thing
            .can("take", options -> {
                thing.taken = permits(options);
                return semaphore.tryAcquire(thing.taken, Duration.ofMillis(waitMs(options)));
            })
            .does("release", () -> semaphore.release(thing.taken))
            .can("set", options -> semaphore.trySetPermits(permits(options)))
            .can("available", options -> semaphore.availablePermits());
    }

    private static Thing permits(RPermitExpirableSemaphore semaphore) {
        Thing thing = new Thing();
        return thing
            .can("take", options -> {
                thing.ids = semaphore.tryAcquire(permits(options), waitMs(options), leaseMs(options), MS);
                return !thing.ids.isEmpty();
            })
            .does("release", () -> semaphore.release(thing.ids))
            .can("set", options -> semaphore.trySetPermits(permits(options)))
            .can("available", options -> semaphore.availablePermits())
            .can("renew", options -> thing.ids.stream().allMatch(
                id -> semaphore.updateLeaseTime(id, leaseMs(options), MS)));
    }

    private static Thing latch(RCountDownLatch latch) {
        return new Thing()
            .can("take", options -> latch.await(waitMs(options), MS))
            .does("release", () -> {})
            .can("set", options -> latch.trySetCount(options.number("count", 1)))
            .does("down", latch::countDown)
            .can("count", options -> latch.getCount());
    }
}
