// Words: options as KEY=VALUE.
import java.util.HashMap;
import java.util.Map;

final class Words {
    private final Map<String, String> values = new HashMap<>();

    /** Those of the words that are options. */
    static Words of(String... words) {
        var options = new Words();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals > 0)
                options.values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return options;
    }

    String text(String key) {
        return values.get(key);
    }

    long number(String key, long otherwise) {
        String value = values.get(key);
        return value == null ? otherwise : Long.parseLong(value);
    }
}
