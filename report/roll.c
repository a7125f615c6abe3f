#define _GNU_SOURCE 1
#include "report/roll.h"

#include "common/text.h"
#include "report/file.h"
#include "report/options.h"
#include "report/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/poison.h"

/* One roll that SAFECOPY_RUN names: a memfd of `safecopy run`'s, to which each process of the run
 * adds notes about itself. */
struct roll {
    char path[64]; /* /proc/PID/fd/N */
    struct sc_file_identity identity;
    bool is_shown; /* its command shows the reports on stderr */
};

static struct roll rolls[SC_ROLL_MAX];
static unsigned roll_count;
static char value_taken[SC_ROLL_VALUE_SIZE];

/* Returns the word by which a note is written in the roll. */
const char *sc_roll_word(enum sc_roll_note note)
{
    static const char *const words[] = {"report", "latent", "observed", "failed", "lost",
                                        "ended",  "killed", "watched",  "told",   "off"};
    _Static_assert(sizeof words / sizeof words[0] == SC_ROLL_NOTE_COUNT, "a word for each note");
    return words[note];
}

/* Reads the number behind the ':' at *at, and moves *at behind it. Returns 0 if there is no
 * ':'. */
static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    if (**at != ':')
        return 0;
    for (++*at; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

/* Reads one roll of the variable, "PATH:DEVICE:INODE[:shown]", up to a comma or the end. Returns
 * false if it names none: whoever set the variable may have written anything. */
static bool read_roll(const char *at, struct roll *roll)
{
    size_t length = strcspn(at, ":,");
    *roll = (struct roll){.path = ""};
    if (length >= sizeof roll->path)
        return false;
    memcpy(roll->path, at, length);
    at += length;
    roll->identity.device = (dev_t)take_number(&at);
    roll->identity.inode = (ino_t)take_number(&at);
    roll->is_shown = strncmp(at, SC_ROLL_SHOWN, sizeof SC_ROLL_SHOWN - 1) == 0;
    at += roll->is_shown ? sizeof SC_ROLL_SHOWN - 1 : 0;
    return roll->identity.inode != 0 && (*at == '\0' || *at == ',');
}

/* Takes the rolls that the value of SAFECOPY_RUN lists, of which those that can be read are kept.
 * A run within a run has two. */
void sc_roll_take(const char *value)
{
    size_t length = value ? strlen(value) : 0;
    roll_count = 0;
    value_taken[0] = '\0';
    if (length == 0 || length >= sizeof value_taken)
        return;
    for (const char *at = value; at && roll_count < SC_ROLL_MAX;) {
        if (read_roll(at, &rolls[roll_count]))
            roll_count++;
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    if (roll_count > 0)
        memcpy(value_taken, value, length + 1);
}

/* Returns the value of SAFECOPY_RUN, which differs from run to run, so that a report says which
 * run it is of; "" outside of a run. */
const char *sc_roll_value(void)
{
    return value_taken;
}

/* Does `fd` have the very file that the variable names, a memfd (a regular file without a name in
 * any folder) of this user's? The path may lead to any file by now, which must not be written. */
static bool is_unnamed(const struct roll *roll, int fd)
{
    struct stat status;
    return sc_file_is_same(fd, &roll->identity) && sc_file_status_of(fd, &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_nlink == 0 && status.st_uid == geteuid();
}

/* Does the file have the seals of a roll, and begin with its mark? No file of another purpose has
 * both. Linux may add a seal of its own (vm.memfd_noexec), which does not count. */
static bool is_marked(int fd)
{
    enum { SEAL_EXEC = 0x20 };
    char mark[sizeof SC_ROLL_MARK];
    return (sc_file_seals(fd) & ~SEAL_EXEC) == SC_ROLL_SEALS &&
           sc_file_read_at(fd, mark, sizeof mark, 0) == sizeof mark &&
           memcmp(mark, SC_ROLL_MARK, sizeof mark) == 0;
}

/* Opens what is at the roll's path now, if it is the file that the variable names; else -1. */
static int open_if_unnamed(const struct roll *roll, int flags)
{
    int fd = sc_file_open_existing(roll->path, flags);
    if (fd < 0 || is_unnamed(roll, fd))
        return fd < 0 ? -1 : fd;
    sc_file_close(fd);
    return -1;
}

/* Opens the roll for writing. Returns -1 if the path names something else by now. Opening alone
 * may have an effect on another file, so it is opened with O_PATH first; then for reading, to see
 * its mark; only then for writing. */
static int open_roll(const struct roll *roll)
{
    int path_only = open_if_unnamed(roll, O_PATH);
    int readable = path_only >= 0 ? open_if_unnamed(roll, O_RDONLY) : -1;
    bool is_roll = readable >= 0 && is_marked(readable);
    sc_file_close(path_only);
    sc_file_close(readable);
    return is_roll ? open_if_unnamed(roll, O_WRONLY) : -1;
}

/* Adds the note to one roll. If it cannot be written (RLIMIT_FSIZE limits memfds, too), the file's
 * mode, which has no such limit, tells the command that notes are missing. Returns whether it was
 * written. */
static bool append_to(const struct roll *roll, const char *note, size_t size)
{
    int fd = open_roll(roll);
    if (fd < 0)
        return false;
    bool is_noted = sc_file_write(fd, note, size) == 0;
    if (!is_noted)
        sc_file_set_mode(fd, SC_ROLL_MODE_LACKS);
    sc_file_close(fd);
    return is_noted;
}

/* Adds the note, with its NUL, to all rolls. Returns whether one of them has it whose command
 * shows the reports on stderr. */
static bool append_to_all(const struct sc_text *text)
{
    bool is_shown = false;
    for (unsigned i = 0; i < roll_count; i++)
        if (append_to(&rolls[i], text->bytes, text->used + 1))
            is_shown = is_shown || rolls[i].is_shown;
    return is_shown;
}

/* Writes a note as the command reads it: "PID STARTED WORD", and a path behind some words. A pid
 * is used again, and pid and start together are not. */
static void put_note(struct sc_text *text, int32_t pid, uint64_t started, enum sc_roll_note note,
                     const char *path)
{
    sc_text_format(text, "%d %lu %s%s%s", pid, started, sc_roll_word(note), path ? " " : "",
                   path ? path : "");
}

/* Adds a note of this process to the rolls of the run, if it is part of one. */
bool sc_roll_note(enum sc_roll_note note, const struct sc_path_names *names, const char *path)
{
    if (roll_count == 0)
        return false;
    SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 128);
    put_note(&text, names->pid, names->started, note, path);
    return append_to_all(&text);
}

/* Is the process part of a run of `safecopy run` that wants notes? */
bool sc_roll_is_there(void)
{
    return roll_count != 0;
}

/* Notes that this process sends another one of the run a signal that may end it, since that one
 * cannot tell of its end. A process that has ended already is not noted. May run in a signal
 * handler: errno is kept. */
void sc_roll_note_killed(int32_t pid)
{
    char bytes[64];
    struct sc_text text;
    int saved = errno;
    uint64_t started = sc_path_find_start(pid);
    if (started != 0) {
        text = sc_text_in(bytes, sizeof bytes);
        put_note(&text, pid, started, SC_ROLL_KILLED, NULL);
        append_to_all(&text);
    }
    errno = saved;
}

/* Notes that this process would have used the driver but for mode=off, so that the command does
 * not take its silence for a run without hazards. The program's path is for people, and may be
 * cut. */
void sc_roll_note_off(void)
{
    char path[256], bytes[sizeof path + 128];
    int32_t pid = getpid();
    int saved = errno;
    if (roll_count == 0)
        return;
    sc_file_link("/proc/self/exe", path, sizeof path);
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    put_note(&text, pid, sc_path_find_start(pid), SC_ROLL_OFF, path[0] != '\0' ? path : "?");
    append_to_all(&text);
    errno = saved;
}
