// Actor: a thread, which is an owner in Redisson's eyes, and what it has taken.
//
//   take KIND NAME [OPTION=VALUE...]     "taken" or "busy"; see Thing for kinds and options
//   release KIND NAME                    "released": the last that it took of these
//   hold KIND NAME [OPTION=VALUE...]     takes it, and gives it back at once: "released" or "busy"
//   rounds KIND NAME [OPTION=VALUE...]   "done": see Rounds
//   VERB KIND NAME [OPTION=VALUE...]     what Thing.ask answers
//
// What goes wrong is answered with "error" and the reason. What it takes is a section, which the file
// history of the order's directory tells of: see History.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.api.RedissonClient;

final class Actor {
    private final String name;
    private final List<RedissonClient> clients;
    private final Map<String, Deque<Section>> sections = new HashMap<>();
    private final ExecutorService thread;

    private record Section(Thing thing, History stay) {}

    Actor(String name, List<RedissonClient> clients) {
        this.name = name;
        this.clients = clients;
        thread = Executors.newSingleThreadExecutor(work -> new Thread(work, name));
    }

    void order(Path directory, String[] words) {
        thread.execute(() -> obey(directory, words));
    }

    void dismiss() {
        thread.shutdownNow();
    }

    private void obey(Path directory, String[] words) {
        try {
            Path draft = directory.resolve("draft-" + name);
            Files.writeString(draft, answer(directory, words) + "\n");
            Files.move(draft, directory.resolve("answer-" + name), StandardCopyOption.ATOMIC_MOVE);
        } catch (InterruptedException e) {
            // dismissed
        } catch (IOException e) {
            e.printStackTrace(); // the test and its directory are gone
        }
    }

    private String answer(Path directory, String[] words) throws InterruptedException {
        String verb = words[2], kind = words[3], what = words[4];
        Words options = Words.of(words);
        try {
            switch (verb) {
            case "take": return take(directory, kind, what, options);
            case "release": return release(kind, what);
            case "hold":
                String answer = take(directory, kind, what, options);
                return answer.equals("taken") ? release(kind, what) : answer;
            case "rounds":
                new Rounds(directory, kind, owner(), options).go(each -> Thing.of(each, what, clients));
                return "done";
            default: return thing(kind, what).ask(verb, options).toString();
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            e.printStackTrace();
            return "error " + e;
        }
    }

    private String take(Path directory, String kind, String what, Words options)
        throws InterruptedException, IOException {
        Thing thing = Thing.of(kind, what, clients);
        if (!thing.take(options))
            return "busy";
        var stay = new History(directory, owner(), kind, thing.token, "who=" + name, false);
        taken(kind, what).push(new Section(thing, stay));
        return "taken";
    }

    private String release(String kind, String what) throws InterruptedException, IOException {
        Section section = taken(kind, what).pop();
        section.stay.end();
        section.thing.release();
        return "released";
    }

    /** What it has of this, if anything, else what it might take. */
    private Thing thing(String kind, String what) {
        Section section = taken(kind, what).peek();
        return section != null ? section.thing : Thing.of(kind, what, clients);
    }

    private Deque<Section> taken(String kind, String what) {
        return sections.computeIfAbsent(kind + " " + what, key -> new ArrayDeque<>());
    }

    /** As it stands in Redis. */
    private String owner() {
        return clients.get(0).getId() + ":" + threadId();
    }

    @SuppressWarnings("deprecation") // of which Java 17 knows no other
    static long threadId() {
        return Thread.currentThread().getId();
    }
}
