// History: the lines that section.c writes, of a section that is a thread's. CLOCK_MONOTONIC is what
// System.nanoTime tells on Linux, so both kinds of sections stand on one clock.
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

final class History {
    private final Path directory;
    private final String owner, note;

    History(Path directory, String owner, String note) {
        this.directory = directory;
        this.owner = owner;
        this.note = note;
    }

    /** To be called when it has just been taken. */
    Stay enter(String kind, String token, boolean beats) throws IOException {
        return new Stay(System.nanoTime(), kind, token, beats);
    }

    void append(String line) throws IOException {
        try (var file = FileChannel.open(directory.resolve("history"), StandardOpenOption.CREATE,
                 StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            file.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8))); // one write(2)
        }
    }

    final class Stay {
        private final long enter;
        private final String kind, token;
        private final String pid = ProcessHandle.current().pid() + "." + Actor.threadId();
        private final MappedByteBuffer beat; // survives kill -9

        private Stay(long enter, String kind, String token, boolean beats) throws IOException {
            this.enter = enter;
            this.kind = kind;
            this.token = token;
            beat = beats ? map(directory.resolve("beats").resolve(pid + "-" + enter)) : null;
            line("-");
        }

        private MappedByteBuffer map(Path path) throws IOException {
            try (var file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ,
                     StandardOpenOption.WRITE)) {
                var map = file.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
                map.order(ByteOrder.nativeOrder());
                return map;
            }
        }

        void beat() {
            beat.putLong(0, System.nanoTime());
        }

        /** To be called before it is given back. */
        void end() throws IOException {
            line(Long.toString(System.nanoTime()));
        }

        private void line(String exit) throws IOException {
            append("enter=" + enter + " exit=" + exit + " owner=" + owner + " token=" + token + " kind=" + kind
                + " pid=" + pid + (note.isEmpty() ? "" : " " + note));
        }
    }
}
