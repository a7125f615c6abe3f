#define _GNU_SOURCE 1
#include "report/place.h"

#include "common/kernel.h"
#include "common/text.h"
#include "report/file.h"
#include "report/json.h"
#include "report/options.h"
#include "report/own_report.h"
#include "report/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/poison.h"

/* How often opening is tried: processes that start together may take a name from each other, but
 * not for ever. */
enum { TRIES = 16 };

enum { FREE = 0 }; /* a result: nothing has the name any more; descriptors are greater */

enum { MINOR_NULL = 3, MINOR_FULL = 7 }; /* of /dev/null and /dev/full */

/* Results that are refusals of ours, as errors that opening and removing never give. */
enum {
    IS_LINK = -EMLINK,          /* a symbolic link */
    IS_TAKEN = -EALREADY,       /* another process writes there */
    IS_STRANGER = -EMEDIUMTYPE, /* no whole report of ours */
    HAS_NAMES = -ENOTUNIQ,      /* a report with another name besides */
};

/* ---- descriptors ---- */

static struct {
    int number; /* -1: report_path names no descriptor */
    struct sc_file_identity identity;
} named_at_start = {.number = -1};

/* Returns the descriptor that the path names (/dev/stdout, /dev/fd/3); -1 for any other path.
 * Numbers of 8 digits and more are none. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0)
            continue;
        size_t digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 8 && path[length + digits] == '\0')
            return atoi(path + length);
    }
    return -1;
}

/* Notes which file the descriptor has that report_path names, before the program opens any: later
 * the number may belong to a file of the program's. The options cannot be parsed yet at this time,
 * so the last report_path is searched in their text. */
void sc_place_note_descriptor(const char *options)
{
    static const char key[] = "report_path=";
    while (options && *options != '\0') {
        char path[32] = "";
        size_t length = strcspn(options, ":");
        size_t prefix = sizeof key - 1;
        if (strncmp(options, key, prefix) == 0) {
            if (length - prefix < sizeof path)
                memcpy(path, options + prefix, length - prefix);
            named_at_start.number = descriptor_of(path);
        }
        options += length + (options[length] == ':');
    }
    if (named_at_start.number >= 0)
        named_at_start.identity = sc_file_identify(named_at_start.number);
}

/* Is the descriptor still the one that the user named, and no file of the program's with the same
 * number? A number up to 2 is taken as it is, since a program may mean to send its stdout
 * elsewhere. Any other must still have the file of the process's start. A descriptor that was
 * closed then is never the user's. */
static bool is_the_users(int number)
{
    if (named_at_start.number != number)
        return true;
    return named_at_start.identity.inode != 0 &&
           (number <= STDERR_FILENO || sc_file_is_same(number, &named_at_start.identity));
}

/* Opens for us what the descriptor has open. A regular file is shared, with its position, so that
 * our lines stand behind the program's and not over them. A pipe or terminal is opened anew: we
 * need O_NONBLOCK, which would change the program's own writes, too, since a duplicate has the
 * same flags. */
static int open_descriptor(int number)
{
    struct stat status;
    int known = sc_file_status_of(number, &status);
    if (known != 0)
        return known;
    if (!is_the_users(number))
        return -EBADF;
    if (S_ISREG(status.st_mode))
        return sc_file_duplicate(number);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
        return -ENOTSUP;
    SC_TEXT(text, 32);
    sc_text_format(&text, "/proc/self/fd/%d", number);
    return sc_file_open_existing(text.bytes, O_WRONLY);
}

/* ---- what is there ---- */

/* Opens the file that `status` describes, and nothing that somebody has put in its place since.
 * FREE: the path no longer leads to that file. */
static int open_same(const char *path, int flags, const struct stat *status)
{
    const struct sc_file_identity identity = {.device = status->st_dev, .inode = status->st_ino};
    int fd = sc_file_open_existing(path, flags | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? FREE : fd == -ELOOP ? IS_LINK : fd;
    if (sc_file_is_same(fd, &identity))
        return fd;
    sc_file_close(fd);
    return FREE;
}

/* Is the file the owner's, with no other name (hard link) under which somebody may want it to
 * stay? */
static bool is_only_of(const struct stat *status, uid_t owner)
{
    return status->st_uid == owner && status->st_nlink == 1;
}

/* Is the open file the owner's, with no other name (hard link)? */
static bool is_open_only_of(int fd, uid_t owner)
{
    struct stat status;
    return sc_file_status_of(fd, &status) == 0 && is_only_of(&status, owner);
}

/* Was the report written on this host, so that its pid tells whether its process lives? Containers
 * with the same host's name cannot be told apart. The name is compared as JSON has it, with
 * escapes. */
static bool is_on_this_host(const struct sc_own_report_author *author, const char *host)
{
    SC_TEXT(text, sizeof author->host + 2);
    sc_json_put(&text, "%s", host);
    size_t length = strlen(author->host);
    return !text.cut && text.used == length + 2 &&
           memcmp(text.bytes + 1, author->host, length) == 0;
}

/* Removes the name of the file that `status` describes, unless another file has the name by now.
 * FREE: the name is free. */
static int remove_same(const char *path, const struct stat *status)
{
    struct stat now;
    int result = sc_file_status(path, &now);
    if (result == 0 && now.st_dev == status->st_dev && now.st_ino == status->st_ino)
        result = sc_file_remove(path);
    return result == -ENOENT ? FREE : result;
}

/* Decides what becomes of the file at the report's path, which we have locked, so that no process
 * has it open as its report. Returns `fd`, to go on with it; FREE, to replace it; or a refusal. A
 * file that is no whole report is the user's: the path may be a mistake. This very process's
 * report goes on, as an exec must not lose what was found before; but only if this user owns it,
 * since a report can be forged. One whose process lives stays, as that process may have closed its
 * descriptors, or be between an exec and its first use of CUDA. One of another host, or without a
 * start time, is replaced: nobody can tell whether its process lives. */
static int decide_on_file(int fd, const struct sc_path_names *names)
{
    struct sc_own_report_author author;
    struct stat status;
    int result = sc_file_status_of(fd, &status);
    if (result != 0)
        return result;
    if (!sc_own_report_begins(fd, &author) || !sc_own_report_ends(fd))
        return IS_STRANGER;
    if (status.st_nlink != 1)
        return HAS_NAMES;
    if (author.started == 0 || !is_on_this_host(&author, names->host))
        return FREE;
    if (author.pid == names->pid && author.started == names->started)
        return is_only_of(&status, geteuid()) ? fd : IS_TAKEN;
    return sc_path_find_start(author.pid) == author.started ? IS_TAKEN : FREE;
}

/* Opens the file at `path` and decides on it as decide_on_file does. *fd is the open file, or not
 * greater than FREE. Only the owner's own file is looked at; root may replace anybody's report. A
 * file that another process has locked is its report. */
static int look_into(const char *path, const struct stat *status, const struct sc_path_names *names,
                     int *fd)
{
    if (status->st_uid != geteuid() && geteuid() != 0)
        return -EPERM;
    *fd = open_same(path, O_RDWR, status);
    if (*fd <= FREE)
        return *fd;
    return sc_file_lock(*fd) ? decide_on_file(*fd, names) : IS_TAKEN;
}

/* Returns the descriptor of the report at `path` if it goes on, or FREE after it was removed; else
 * a refusal or -errno. */
static int take_file(const char *path, const struct stat *status, const struct sc_path_names *names)
{
    int fd = FREE, result = look_into(path, status, names, &fd);
    if (fd <= FREE)
        return result;
    if (result == FREE)
        result = remove_same(path, status);
    if (result != fd)
        sc_file_close(fd);
    return result;
}

/* Is it the device of this minor number, /dev/null or /dev/full? These swallow or refuse
 * everything, so that writing to them does no harm. */
static bool is_sink(const struct stat *status, unsigned number)
{
    enum { MEMORY = 1 };
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == MEMORY &&
           minor(status->st_rdev) == number;
}

/* Returns why the report is not written to what is there and is no regular file; 0: it is. To open
 * or write an unknown device may have any effect, and somebody else's FIFO would show him our
 * report. */
static int refusal_of(const struct stat *status)
{
    switch (status->st_mode & S_IFMT) {
    case S_IFIFO:
        return is_only_of(status, geteuid()) ? 0 : -EPERM;
    case S_IFCHR:
        return is_sink(status, MINOR_NULL) || is_sink(status, MINOR_FULL) ? 0 : -ENOTSUP;
    case S_IFDIR:
        return -EISDIR;
    case S_IFLNK:
        return IS_LINK;
    default:
        return -ENOTSUP;
    }
}

/* Opens what is at `path`, or clears an old report away. Returns a descriptor; FREE, if nothing is
 * there any more; or a refusal or -errno. */
static int take_existing(const char *path, const struct sc_path_names *names)
{
    struct stat status;
    int result = sc_file_status(path, &status);
    if (result != 0)
        return result == -ENOENT ? FREE : result;
    if (S_ISREG(status.st_mode))
        return take_file(path, &status, names);
    result = refusal_of(&status);
    return result != 0 ? result : open_same(path, O_WRONLY, &status);
}

/* ---- opening ---- */

/* Appends ".PID" to the path, for a report beside a file that has to stay. */
static void add_pid(char *path, int32_t pid)
{
    struct sc_text text = {.bytes = path, .size = SC_OPTIONS_PATH_SIZE, .used = strlen(path)};
    sc_text_format(&text, ".%d", pid);
}

/* Locks our new file, by which other processes see that its process lives. One that looks at the
 * file just now holds the lock for a moment, so it is tried again, 1 ms apart. An empty file is
 * left alone by whoever looks, so we may write even if we never get the lock. */
static void lock_own(int fd)
{
    const struct timespec pause = {0, 1000 * 1000};
    for (int tries = 0; tries < TRIES && !sc_file_lock(fd); tries++)
        (void)sc_kernel_call(SYS_nanosleep, &pause, NULL);
}

/* Makes the file if nothing is at the path. Returns a descriptor, locked as ours, or -errno. */
static int create_file(const char *path)
{
    int fd = sc_file_create(path);
    if (fd > FREE)
        lock_own(fd);
    return fd;
}

/* Returns words for the user why his file at the path stays as it is. NULL: `result` is no such
 * reason, or needs no words. */
static const char *reason_to_keep(int result)
{
    switch (result) {
    case IS_STRANGER:
        return "is no report, or not a whole one,";
    case HAS_NAMES:
        return "has another name besides (a hard link)";
    default:
        return NULL;
    }
}

/* Makes the report's file. ".PID" is appended to the path, once, if what is there has to stay, or
 * if the path is that of the parent's report (`taken`). *kept: why a file of the user's stayed.
 * Another process may take the name between looking and making, so both are tried again. */
static int open_name(char *path, const char *taken, const struct sc_path_names *names,
                     const char **kept)
{
    bool is_apart = strcmp(path, taken) == 0;
    int fd = FREE;
    if (is_apart)
        add_pid(path, names->pid);
    for (int tries = 0; tries < TRIES && fd == FREE; tries++) {
        fd = create_file(path);
        if (fd == -EEXIST)
            fd = take_existing(path, names);
        if ((fd == IS_TAKEN || reason_to_keep(fd)) && !is_apart) {
            is_apart = true;
            *kept = reason_to_keep(fd);
            add_pid(path, names->pid);
            fd = FREE;
        }
    }
    return fd == FREE ? IS_TAKEN : fd;
}

/* Opens the report: what report_path names by its number (/dev/stdout), or the file at the path,
 * which changes if a file there has to stay. */
int sc_place_open(char *path, const char *taken, const struct sc_path_names *names,
                  const char **kept)
{
    int number = descriptor_of(path);
    *kept = NULL;
    return number >= 0 ? open_descriptor(number) : open_name(path, taken, names, kept);
}

/* ---- foreseeing ---- */

/* Returns what would become of the regular file at `path`, as sc_place_foresee does. Both a file
 * to be replaced and one to be kept (the report lies beside it) mean that a file is made. */
static int foresee_file(const char *path, const struct stat *status,
                        const struct sc_path_names *names, const char **kept)
{
    int fd = FREE, result = look_into(path, status, names, &fd);
    if (fd > FREE)
        sc_file_close(fd);
    *kept = reason_to_keep(result);
    return result == FREE || result == IS_TAKEN || *kept ? SC_PLACE_NEEDS_FOLDER : result;
}

/* Returns for `safecopy doctor` what opening the report would do, and leaves no trace: no file is
 * made, and a FIFO is not opened, which its reader would notice. /dev/full can be opened, and
 * writing then fails. */
int sc_place_foresee(const char *path, const struct sc_path_names *names, const char **kept)
{
    struct stat status;
    int number = descriptor_of(path);
    int result = number >= 0 ? open_descriptor(number) : sc_file_status(path, &status);
    *kept = NULL;
    if (number >= 0 && result >= 0)
        sc_file_close(result);
    if (number >= 0)
        return result < 0 ? result : SC_PLACE_IS_THERE;
    if (result != 0)
        return result == -ENOENT ? SC_PLACE_NEEDS_FOLDER : result;
    if (S_ISREG(status.st_mode))
        return foresee_file(path, &status, names, kept);
    result = is_sink(&status, MINOR_FULL) ? -ENOSPC : refusal_of(&status);
    return result != 0 ? result : SC_PLACE_IS_THERE;
}

/* Removes the file that we have made and could not write the first line to (the disk is full),
 * since it would keep other reports from the name. Not if it has a whole first line or another
 * name by now, or somebody else's file is there. */
void sc_place_withdraw(const char *path, const struct sc_file_identity *identity)
{
    const struct stat status = {.st_dev = identity->device, .st_ino = identity->inode};
    struct sc_own_report_author author;
    int fd = S_ISREG(identity->mode) ? open_same(path, O_RDWR, &status) : FREE;
    if (fd <= FREE)
        return;
    if (!sc_own_report_begins(fd, &author) && is_open_only_of(fd, identity->owner))
        (void)remove_same(path, &status);
    sc_file_close(fd);
}

/* Opens the report again after the program has closed its descriptor. By its path only the very
 * file that was the report before is opened, and it must be this user's alone. A descriptor that
 * report_path names is opened as at first: the caller has to check whether it still leads
 * there. */
int sc_place_open_again(const char *path, const struct sc_file_identity *identity)
{
    int number = descriptor_of(path);
    if (number >= 0)
        return open_descriptor(number);
    const struct stat status = {.st_dev = identity->device, .st_ino = identity->inode};
    int fd = open_same(path, O_WRONLY, &status);
    if (fd > FREE && S_ISREG(identity->mode)) {
        (void)sc_file_lock(fd); /* anew: whoever closed the descriptor has unlocked it */
        if (is_open_only_of(fd, identity->owner))
            return fd;
        sc_file_close(fd);
        return -EPERM;
    }
    return fd == FREE ? -ENOENT : fd;
}

/* ---- failing ---- */

static const struct {
    int error;
    const char *words, *remedy; /* NULL: the usual ones */
} failures[] = {
    {-IS_LINK, "a symbolic link is there", "Remove it"},
    {-IS_TAKEN, "other processes write there", "Add %p to it"},
    {-IS_STRANGER, "what is there is no report, or not a whole one", "Move it"},
    {-HAS_NAMES, "what is there has another name besides", "Move it"},
    {ENOTSUP, "neither a file nor a FIFO is there", NULL},
    {ENXIO, "nobody reads from it", "Start the reader first"},
    {EAGAIN, "its reader has stopped reading", NULL},
    {EPERM, "what is there may not be replaced", "Remove it"},
    {EISDIR, NULL, "Name a file in it"},
    {ENOSPC, NULL, "Free space there"},
    {EDQUOT, NULL, "Free space there"},
};

/* Says that the user's file stays as it is, why, and where the report lies instead. `apart` is the
 * report's path: that of the file with ".PID" behind it. */
void sc_place_put_kept(struct sc_text *text, const char *apart, const char *kept)
{
    const char *end = strrchr(apart, '.');
    sc_text_bytes(text, apart, (size_t)(end - apart));
    sc_text_format(text,
                   " %s and stays as it is: the report lies beside it, with %s behind its name",
                   kept, end);
}

/* Returns words for an error of this module, and in *remedy what to do; NULL: the system's words,
 * or to choose another path. */
const char *sc_place_find_failure(int error, const char **remedy)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].error != error)
            continue;
        *remedy = failures[i].remedy;
        return failures[i].words;
    }
    *remedy = NULL;
    return NULL;
}

/* Says that the report cannot be written, why, and what helps. */
void sc_place_put_failure(struct sc_text *text, const char *path, int error)
{
    const char *remedy, *words = sc_place_find_failure(error, &remedy);
    sc_text_put(text, "cannot write the report (");
    if (words)
        sc_text_put(text, words);
    else
        sc_text_error(text, error);
    sc_text_format(text, "): %s; hazards are still counted. %s%sSAFECOPY_OPTIONS=report_path=FILE",
                   path, remedy ? remedy : "Set", remedy ? " or set " : " ");
}
