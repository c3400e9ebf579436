// Actor: a thread, which is an owner in Redisson's eyes, and what it has taken.
//
//   take KIND NAME [OPTION=VALUE...]     "taken" or "busy"; see Thing for kinds and options
//   try KIND NAME [OPTION=VALUE...]      the same without waiting
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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.redisson.api.RedissonClient;

final class Actor {
    private final String name;
    private final List<RedissonClient> clients;
    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private final Map<String, Deque<Section>> sections = new HashMap<>();
    private final Thread thread;

    private record Order(Path directory, String[] words) {}

    private record Section(Thing thing, History stay) {}

    Actor(String name, List<RedissonClient> clients) {
        this.name = name;
        this.clients = clients;
        thread = new Thread(this::work, name);
        thread.setDaemon(true);
        thread.start();
    }

    void order(String directory, String[] words) {
        orders.add(new Order(Path.of(directory), words));
    }

    void dismiss() {
        thread.interrupt();
    }

    private void work() {
        try {
            while (true)
                obey(orders.take());
        } catch (InterruptedException e) {
            // dismissed
        } catch (IOException e) {
            e.printStackTrace(); // the test and its directory are gone
        }
    }

    private void obey(Order order) throws InterruptedException, IOException {
        String answer;
        try {
            answer = answer(order);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            e.printStackTrace();
            answer = "error " + e;
        }
        Path file = order.directory.resolve("answer-" + name), draft = order.directory.resolve("draft-" + name);
        Files.writeString(draft, answer + "\n");
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private String answer(Order order) throws InterruptedException, IOException {
        String verb = order.words[2], kind = order.words[3], what = order.words[4];
        Words options = Words.of(order.words);
        switch (verb) {
        case "take": return take(order, kind, what, options);
        case "try": return take(order, kind, what, options.with("wait=0"));
        case "release": return release(kind, what);
        case "hold":
            String answer = take(order, kind, what, options);
            return answer.equals("taken") ? release(kind, what) : answer;
        case "rounds":
            new Rounds(order.directory, kind, owner(), options).go(each -> Thing.of(each, what, clients));
            return "done";
        default: return thing(kind, what).ask(verb, options).toString();
        }
    }

    private String take(Order order, String kind, String what, Words options) throws InterruptedException, IOException {
        Thing thing = Thing.of(kind, what, clients);
        if (!thing.take(options))
            return "busy";
        var stay = new History(order.directory, owner(), kind, thing.token(), "who=" + name, false);
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
