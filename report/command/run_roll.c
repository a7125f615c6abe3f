#define _GNU_SOURCE 1
#include "report/command/run_roll.h"

#include "report/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates the memory file. Linux before 6.3 does not know the flag that a memfd is not executable,
 * and later versions may require it. */
static int make_memory(void)
{
    enum { NOEXEC_SEAL = 0x8 };
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int made = memfd_create("safecopy run", flags | NOEXEC_SEAL);
    return made < 0 && errno == EINVAL ? memfd_create("safecopy run", flags) : made;
}

/* Writes how a roll begins: processes note nothing in a file that they do not know for one. */
static bool mark(int file)
{
    ssize_t size = sizeof SC_ROLL_MARK;
    return file >= 0 && write(file, SC_ROLL_MARK, (size_t)size) == size &&
           fchmod(file, SC_ROLL_MODE) == 0 && fcntl(file, F_ADD_SEALS, SC_ROLL_SEALS) == 0;
}

/* Makes the roll: a file in memory, in which processes of the run leave notes. Its descriptor is
 * none of the standard three, without which the command may have been started: what is said to
 * stderr would come into the file. */
static int make_file(void)
{
    int made = make_memory();
    int file = mark(made) ? fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (made >= 0)
        close(made);
    return file;
}

/* Names the roll, the file for notes, in the environment that the processes of the run inherit. */
static void name_file(struct sc_run_roll *roll, bool is_shown)
{
    char value[SC_ROLL_VALUE_SIZE];
    struct stat status;
    const char *outer = getenv(SC_ROLL_VARIABLE);
    if (fstat(roll->file, &status) != 0)
        return;
    snprintf(roll->name, sizeof roll->name, "/proc/%d/fd/%d:%ju:%ju%s", getpid(), roll->file,
             (uintmax_t)status.st_dev, (uintmax_t)status.st_ino, is_shown ? SC_ROLL_SHOWN : "");
    bool has_room = outer && strlen(roll->name) + 1 + strlen(outer) < sizeof value;
    snprintf(value, sizeof value, "%s%s%s", roll->name, has_room ? "," : "", has_room ? outer : "");
    setenv(SC_ROLL_VARIABLE, value, 1);
}

/* Makes the roll, a memfd in which processes of the run note what became of them, and names it in
 * the environment. Without one the reports alone speak. */
void sc_run_roll_begin(struct sc_run_roll *roll, bool is_shown)
{
    *roll = (struct sc_run_roll){.file = make_file()};
    if (roll->file >= 0)
        name_file(roll, is_shown);
}

/* Does the value of SAFECOPY_RUN name this run's file for notes? */
bool sc_run_roll_is_in(const struct sc_run_roll *roll, const char *value)
{
    size_t length = strlen(roll->name);
    while (value && (strncmp(value, roll->name, length) != 0 ||
                     (value[length] != ',' && value[length] != '\0'))) {
        value = strchr(value, ',');
        value = value ? value + 1 : NULL;
    }
    return value;
}

/* Returns the rest of `text` after `word`, which ends there or before a blank; else NULL. */
static const char *behind(const char *text, const char *word)
{
    size_t length = strlen(word);
    bool is_it = strncmp(text, word, length) == 0;
    return is_it && (text[length] == '\0' || text[length] == ' ') ? text + length : NULL;
}

static bool has_path(enum sc_roll_note what)
{
    return what == SC_ROLL_REPORT || what == SC_ROLL_OFF;
}

/* Reads one note. Returns false if it is none. */
static bool read_note(const char *text, struct sc_run_note *note)
{
    char *end;
    note->pid = (int32_t)strtol(text, &end, 10);
    note->started = strtoull(end, &end, 10);
    if (*end != ' ')
        return false;
    for (note->what = 0; note->what < SC_ROLL_NOTE_COUNT; note->what++) {
        const char *rest = behind(end + 1, sc_roll_word(note->what));
        note->path = rest && *rest == ' ' ? rest + 1 : NULL;
        if (rest)
            return has_path(note->what) == (note->path != NULL);
    }
    return false;
}

/* Reads the next note that is well-formed. Returns false if there is none. */
bool sc_run_roll_next(const struct sc_run_roll *roll, size_t *at, struct sc_run_note *note)
{
    while (*at < roll->size) {
        const char *text = roll->notes + *at;
        *at += strlen(text) + 1;
        if (read_note(text, note))
            return true;
    }
    return false;
}

/* Does the process that wrote the note still run? Its start time tells it from a later one with
 * its pid. */
static bool runs(const struct sc_run_note *note)
{
    return note->started != 0 && sc_path_find_start(note->pid) == note->started;
}

/* Counts what was noted, and which of the processes with reports still live. */
static void take_notes(struct sc_run_roll *roll)
{
    struct sc_run_note note;
    for (size_t at = 0; sc_run_roll_next(roll, &at, &note);) {
        roll->said |= 1U << note.what;
        roll->report_count += note.what == SC_ROLL_REPORT;
    }
    roll->living = calloc(roll->report_count + 1, sizeof *roll->living);
    for (size_t at = 0; roll->living && sc_run_roll_next(roll, &at, &note);)
        if (note.what == SC_ROLL_REPORT && runs(&note))
            roll->living[roll->living_count++] = note;
}

/* Does the process that wrote the report still live? */
bool sc_run_roll_has_living(const struct sc_run_roll *roll, int64_t pid, int64_t started)
{
    for (size_t i = 0; i < roll->living_count; i++)
        if (roll->living[i].pid == pid && (int64_t)roll->living[i].started == started)
            return true;
    return false;
}

/* Reads the notes that are there now; processes that live on may write more. */
static void read_file(struct sc_run_roll *roll)
{
    struct stat status = {0};
    bool is_known = fstat(roll->file, &status) == 0;
    roll->notes = is_known ? calloc((size_t)status.st_size + 1, 1) : NULL;
    ssize_t size = roll->notes ? pread(roll->file, roll->notes, (size_t)status.st_size, 0) : -1;
    roll->size = size > 0 ? (size_t)size : 0;
    roll->is_unread = size < 0 || size != status.st_size;
    roll->lacks = is_known && (status.st_mode & 0777) != SC_ROLL_MODE;
}

/* Reads the notes that the processes of the run have left so far. */
void sc_run_roll_read(struct sc_run_roll *roll)
{
    if (roll->file < 0)
        return;
    read_file(roll);
    take_notes(roll);
}

void sc_run_roll_free(struct sc_run_roll *roll)
{
    if (roll->file >= 0)
        close(roll->file);
    free(roll->notes);
    free(roll->living);
}
