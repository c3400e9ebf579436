// Rounds: takes it, stays a little, gives it back, again and again until the file `over` is there; what it
// did stands in history, to be judged by check_history.py.
//
// kind: any that Thing knows, or rw: to read or to write, as it falls
// options: seed; permits, the most to take at once; lease, of permits
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.redisson.client.RedisTimeoutException;

final class Rounds {
    private final Path directory;
    private final String kind, owner;
    private final Words options;
    private final Random random;

    Rounds(Path directory, String kind, String owner, Words options) {
        this.directory = directory;
        this.kind = kind;
        this.owner = owner;
        this.options = options;
        random = new Random(options.number("seed", 1));
    }

    void go(Function<String, Thing> things) throws InterruptedException, IOException {
        while (!Files.exists(directory.resolve("over"))) {
            String now = kind.equals("rw") ? random.nextInt(10) < 3 ? "write" : "read" : kind;
            once(now, things.apply(now));
            Thread.sleep(random.nextInt(30));
        }
    }

    private void once(String kind, Thing thing) throws InterruptedException, IOException {
        int permits = 1 + random.nextInt(Thing.permits(options));
        long arrival = System.nanoTime();
        if (!taken(thing, permits))
            return;
        var stay = new History(directory, owner, kind, thing.token, "arrival=" + arrival + " permits=" + permits, true);
        again(kind, thing);
        for (long end = System.nanoTime() + stayNs(); System.nanoTime() < end;) {
            stay.beat();
            LockSupport.parkNanos(200_000);
        }
        stay.end();
        thing.release();
    }

    /** On a busy machine Redisson, too, may find its time over before it has subscribed; it says so in its way. */
    private boolean taken(Thing thing, int permits) throws InterruptedException {
        try {
            return thing.take(want(permits));
        } catch (RedisTimeoutException e) {
            return false;
        }
    }

    /** Some give up after a while. */
    private Words want(int permits) {
        String patience = random.nextInt(100) < 15 ? "wait=" + (50 + random.nextInt(450)) : "";
        return Words.of("permits=" + permits, "lease=" + options.number("lease", -1), patience);
    }

    /** Some take it again within: a hold more, and less, of the same owner. */
    private void again(String kind, Thing thing) throws InterruptedException {
        if (kind.equals("permits") || kind.equals("sem") || random.nextInt(10) > 0)
            return;
        thing.take(want(1));
        thing.release();
    }

    private long stayNs() {
        int ms = random.nextInt(10) > 0 ? 1 + random.nextInt(8) : 20 + random.nextInt(60);
        return ms * 1_000_000L;
    }
}
