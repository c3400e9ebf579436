// Interop: a Java service on the same locks. Each line on standard input is an order for one of its
// threads; threads go by names and come into being with their first order.
//
//   DIRECTORY WHO VERB [WORD...]    see Actor; the answer goes to DIRECTORY/answer-WHO
//   DIRECTORY - forget              all threads do: nobody holds or awaits anything any more
//
// When it takes orders it says "ready", and the UUID of its threads as owners.
//
// usage: java Interop OPTION=VALUE...
//
//   servers   URLs with commas; the first is where all but a "red" lock live
//   cluster   URLs of nodes, in the place of servers
//   watchdog  the lease of locks taken without one, in ms; renewed every third of it
//   patience  how long a fair waiter may be silent, in ms
//   timeout   how long a reply may take, in ms; it is asked `retries` times again
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

final class Interop {
    /** No test lasts so long: whoever started this is gone. */
    private static final long END_MS = 15 * 60 * 1000;

    private final Map<String, Actor> actors = new HashMap<>();
    private final List<RedissonClient> clients;

    private Interop(List<RedissonClient> clients) {
        this.clients = clients;
    }

    public static void main(String[] args) throws Exception {
        CompletableFuture.delayedExecutor(END_MS, TimeUnit.MILLISECONDS).execute(() -> Runtime.getRuntime().halt(99));
        List<RedissonClient> clients = clients(Words.of(args));
        var interop = new Interop(clients);
        System.out.println("ready " + clients.get(0).getId());
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = orders.readLine()) != null;)
            interop.obey(line.split(" "));
        Runtime.getRuntime().halt(0);
    }

    /** As a service would have them, with Redisson's defaults wherever a test does not need others. */
    private static List<RedissonClient> clients(Words options) {
        if (options.text("cluster") != null)
            return List.of(client(options, config -> config.useClusterServers()
                .addNodeAddress(options.text("cluster").split(","))
                .setMasterConnectionMinimumIdleSize(1)
                .setSlaveConnectionMinimumIdleSize(1)));
        return Arrays.stream(options.text("servers").split(","))
            .map(url -> client(options, config -> config.useSingleServer()
                .setAddress(url)
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(16)))
            .toList();
    }

    private static RedissonClient client(Words options, Function<Config, BaseConfig<?>> servers) {
        var config = new Config();
        config.setNettyThreads(4);
        config.setLockWatchdogTimeout(options.number("watchdog", config.getLockWatchdogTimeout()));
        config.setFairLockWaitTimeout(options.number("patience", config.getFairLockWaitTimeout()));
        servers.apply(config)
            .setTimeout((int) options.number("timeout", 3000))
            .setRetryAttempts((int) options.number("retries", 4));
        return Redisson.create(config);
    }

    private void obey(String[] order) {
        String directory = order[0], who = order[1], verb = order[2];
        if (verb.equals("forget")) {
            actors.values().forEach(Actor::dismiss);
            actors.clear();
        } else {
            actors.computeIfAbsent(who, name -> new Actor(name, clients)).order(Path.of(directory), order);
        }
    }
}
