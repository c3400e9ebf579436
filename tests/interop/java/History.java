// History: the lines that section.c writes, of one section that is a thread's. CLOCK_MONOTONIC is what
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
    private final long enter = System.nanoTime();
    private final Path directory;
    private final String about;
    private final MappedByteBuffer beat; // survives kill -9

    /** To be called when it has just been taken. */
    History(Path directory, String owner, String kind, String token, String note, boolean beats) throws IOException {
        String pid = ProcessHandle.current().pid() + "." + Actor.threadId();
        this.directory = directory;
        about = " owner=" + owner + " token=" + token + " kind=" + kind + " pid=" + pid + " " + note + "\n";
        beat = beats ? map(directory.resolve("beats").resolve(pid + "-" + enter)) : null;
        tell("-");
    }

    private static MappedByteBuffer map(Path path) throws IOException {
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
        tell(Long.toString(System.nanoTime()));
    }

    private void tell(String exit) throws IOException {
        String line = "enter=" + enter + " exit=" + exit + about;
        try (var file = FileChannel.open(directory.resolve("history"), StandardOpenOption.CREATE,
                 StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8))); // one write(2)
        }
    }
}
