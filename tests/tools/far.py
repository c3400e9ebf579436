"""far.py SOCKET SERVER MS: a line to a server that is far away: what is sent to it comes MS later."""
import socket
import sys
import threading
import time


def pump(source, to, seconds):
    try:
        while data := source.recv(1 << 20):
            time.sleep(seconds)
            to.sendall(data)
    except OSError:
        pass
    for end in (source, to):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main(path, server, ms):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        client, _ = listener.accept()
        behind = socket.socket(socket.AF_UNIX)
        behind.connect(server)
        for source, to, seconds in ((client, behind, ms / 1000), (behind, client, 0)):
            threading.Thread(target=pump, args=(source, to, seconds), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
