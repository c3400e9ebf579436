/* trust.c: a directory that nobody else can put another one in the place of.
 *
 * What was checked by a descriptor is used by its name later, by others too: so every directory on
 * the way must be one in which root and we alone can rename things. /tmp is: its sticky bit leaves
 * what is ours to us. Symbolic links on the way are followed by hand, for they lead through
 * directories, too. */
#include "server/local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40,
    NAME_SIZE = NAME_MAX + 2, /* what is cut is still too long for the system, which refuses it */
};

struct walk {
    int fd;      /* where we are; O_PATH */
    bool shared; /* others may make things there, but not rename ours */
    int links;
    char here[PATH_MAX]; /* its name, for messages: without the last slash */
    char rest[PATH_MAX]; /* what is still to go */
    struct trust *trust;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct trust *trust, const char *format,
                                                         ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(trust->why, sizeof trust->why, format, arguments);
    va_end(arguments);
    trust->refused = true;
    return false;
}

static bool fail(struct trust *trust, int error, const char *what) {
    (void)snprintf(trust->why, sizeof trust->why, "%.900s: %s", what, strerror(error));
    errno = error;
    return false;
}

static bool is_trusted(uid_t owner) {
    return owner == 0 || owner == geteuid();
}

static const char *name_here(const struct walk *walk) {
    return *walk->here != '\0' ? walk->here : "/";
}

/* Goes on to a directory, and checks its owner and permissions. */
static bool enter(struct walk *walk, int fd) {
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0)
        return fail(walk->trust, errno, name_here(walk));
    if (walk->fd >= 0)
        close(walk->fd);
    walk->fd = fd;
    walk->shared = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (!is_trusted(about.st_uid))
        return refuse(walk->trust, "%.500s belongs to someone else, who may rename what is in it",
                      name_here(walk));
    if (walk->shared && (about.st_mode & S_ISVTX) == 0)
        return refuse(walk->trust, "others may rename what is in %.500s", name_here(walk));
    return true;
}

static bool enter_root(struct walk *walk) {
    walk->here[0] = '\0';
    return enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* What the link says stands before the rest of the way. */
static bool follow(struct walk *walk, const char *name) {
    char way[PATH_MAX];
    const ssize_t length = readlinkat(walk->fd, name, way, sizeof way - 1);
    if (length < 0)
        return fail(walk->trust, errno, name);
    if (++walk->links > LINKS_MAX)
        return fail(walk->trust, ELOOP, name);
    const size_t left = sizeof way - (size_t)length;
    if (snprintf(way + length, left, "/%s", walk->rest) >= (int)left)
        return fail(walk->trust, ENAMETOOLONG, name_here(walk));
    memcpy(walk->rest, way, sizeof way);
    return *way != '/' || enter_root(walk);
}

/* One step down, by a name that is not the last. */
static bool step(struct walk *walk, const char *name) {
    struct stat about;
    if (fstatat(walk->fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return fail(walk->trust, errno, name);
    if (walk->shared && !is_trusted(about.st_uid))
        return refuse(walk->trust, "%.200s in %.500s belongs to someone else, who may rename it",
                      name, name_here(walk));
    if (S_ISLNK(about.st_mode))
        return follow(walk, name);
    const size_t length = strlen(walk->here);
    if (strcmp(name, "..") == 0) {
        char *slash = strrchr(walk->here, '/');
        if (slash != NULL)
            *slash = '\0';
    } else if (snprintf(walk->here + length, sizeof walk->here - length, "/%s", name) >=
               (int)(sizeof walk->here - length)) {
        return fail(walk->trust, ENAMETOOLONG, name_here(walk));
    }
    return enter(walk, openat(walk->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Cuts the next name off; true where it is the last. */
static bool next_name(struct walk *walk, char name[NAME_SIZE]) {
    const char *from = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(from, "/");
    (void)snprintf(name, NAME_SIZE, "%.*s", (int)length, from);
    from += length;
    from += strspn(from, "/");
    memmove(walk->rest, from, strlen(from) + 1);
    return *walk->rest == '\0';
}

/* The directory itself. */
static int open_last(struct walk *walk, const char *name) {
    struct stat about;
    struct trust *trust = walk->trust;
    if (mkdirat(walk->fd, name, 0700) != 0 && errno != EEXIST) {
        (void)fail(trust, errno, name);
        return -1;
    }
    const int fd = openat(walk->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        refuse(trust, "it is a symbolic link or no directory");
    else if (fd < 0 || fstat(fd, &about) != 0)
        refuse(trust, "%s", strerror(errno));
    else if (about.st_uid != geteuid())
        refuse(trust, "it belongs to someone else");
    else if ((about.st_mode & 077) != 0)
        refuse(trust, "others may enter it");
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int trust_open(const char *path, struct trust *trust) {
    struct walk walk = {.fd = -1, .trust = trust};
    char name[NAME_SIZE];
    int fd = -1;
    *trust = (struct trust){.refused = false};
    bool good = snprintf(walk.rest, sizeof walk.rest, "%s", path) < (int)sizeof walk.rest
                    ? enter_root(&walk)
                    : fail(trust, ENAMETOOLONG, name_here(&walk));
    bool last = false;
    while (good && !last) {
        last = next_name(&walk, name);
        if (last)
            fd = open_last(&walk, *name != '\0' ? name : ".");
        else if (strcmp(name, ".") != 0)
            good = step(&walk, name);
    }
    const int error = errno;
    if (walk.fd >= 0)
        close(walk.fd);
    errno = error;
    return fd;
}
