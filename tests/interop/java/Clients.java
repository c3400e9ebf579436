// Clients: Redisson as a service would have it, with its defaults wherever a test does not need others.
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

final class Clients {
    private Clients() {}

    static List<RedissonClient> of(Words options) {
        if (options.text("cluster") != null)
            return List.of(cluster(options));
        return Arrays.stream(options.text("servers").split(","))
            .map(url -> single(options, url))
            .collect(Collectors.toList());
    }

    private static RedissonClient single(Words options, String url) {
        Config config = config(options);
        config.useSingleServer()
            .setAddress(url)
            .setConnectionMinimumIdleSize(2)
            .setConnectionPoolSize(16)
            .setTimeout((int) options.number("timeout", 3000))
            .setRetryAttempts((int) options.number("retries", 4));
        return Redisson.create(config);
    }

    private static RedissonClient cluster(Words options) {
        Config config = config(options);
        config.useClusterServers()
            .addNodeAddress(options.text("cluster").split(","))
            .setMasterConnectionMinimumIdleSize(1)
            .setSlaveConnectionMinimumIdleSize(1)
            .setTimeout((int) options.number("timeout", 3000))
            .setRetryAttempts((int) options.number("retries", 4));
        return Redisson.create(config);
    }

    private static Config config(Words options) {
        var config = new Config();
        config.setNettyThreads(4);
        config.setLockWatchdogTimeout(options.number("watchdog", config.getLockWatchdogTimeout()));
        config.setFairLockWaitTimeout(options.number("patience", config.getFairLockWaitTimeout()));
        return config;
    }
}
