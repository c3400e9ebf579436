// Words: options as KEY=VALUE.
import java.util.HashMap;
import java.util.Map;

final class Words {
    private final Map<String, String> values = new HashMap<>();

    /** Those of the words that are options. */
    static Words of(String... words) {
        return new Words().with(words);
    }

    /** These, too, or in the place of those of the same name. */
    Words with(String... words) {
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals > 0)
                values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return this;
    }

    String text(String key) {
        return values.get(key);
    }

    long number(String key, long otherwise) {
        String value = values.get(key);
        return value == null ? otherwise : Long.parseLong(value);
    }
}
