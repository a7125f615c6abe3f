#define _GNU_SOURCE 1
#include "report/command/run_ledger.h"

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

/* Kernels before 6.3 do not know that a memfd is not to be executed, and later ones may want it to
 * be said. */
static int make_memory(void)
{
    enum { NOEXEC_SEAL = 0x8 };
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int made = memfd_create("safecopy run", flags | NOEXEC_SEAL);
    return made < 0 && errno == EINVAL ? memfd_create("safecopy run", flags) : made;
}

/* Processes note nothing in a file that they do not know for a ledger. */
static bool mark(int file)
{
    ssize_t size = sizeof SC_LEDGER_MARK;
    return file >= 0 && write(file, SC_LEDGER_MARK, (size_t)size) == size &&
           fcntl(file, F_ADD_SEALS, SC_LEDGER_SEALS) == 0;
}

/* Not one of the three that the command may have been started without: what is said to stderr would
 * come into the file. */
static int make_file(void)
{
    int made = make_memory();
    int file = mark(made) ? fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (made >= 0)
        close(made);
    return file;
}

static void name_file(struct sc_run_ledger *ledger)
{
    char value[SC_LEDGER_VALUE_SIZE];
    struct stat status;
    const char *outer = getenv(SC_LEDGER_VARIABLE);
    if (fstat(ledger->file, &status) != 0)
        return;
    snprintf(ledger->name, sizeof ledger->name, "/proc/%d/fd/%d:%ju:%ju", getpid(), ledger->file,
             (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    bool has_room = outer && strlen(ledger->name) + 1 + strlen(outer) < sizeof value;
    snprintf(value, sizeof value, "%s%s%s", ledger->name, has_room ? "," : "",
             has_room ? outer : "");
    setenv(SC_LEDGER_VARIABLE, value, 1);
}

void sc_run_ledger_begin(struct sc_run_ledger *ledger)
{
    *ledger = (struct sc_run_ledger){.file = make_file()};
    if (ledger->file >= 0)
        name_file(ledger);
}

bool sc_run_ledger_is_in(const struct sc_run_ledger *ledger, const char *value)
{
    size_t length = strlen(ledger->name);
    while (value && (strncmp(value, ledger->name, length) != 0 ||
                     (value[length] != ',' && value[length] != '\0'))) {
        value = strchr(value, ',');
        value = value ? value + 1 : NULL;
    }
    return value;
}

struct note {
    int32_t pid;
    uint64_t started;
    enum sc_ledger_note what;
    const char *path; /* of a report */
};

/* The rest of `text` behind `word`, which ends there or before a blank; else NULL. */
static const char *behind(const char *text, const char *word)
{
    size_t length = strlen(word);
    bool is_it = strncmp(text, word, length) == 0;
    return is_it && (text[length] == '\0' || text[length] == ' ') ? text + length : NULL;
}

/* False: not a note. */
static bool read_note(const char *text, struct note *note)
{
    char *end;
    note->pid = (int32_t)strtol(text, &end, 10);
    note->started = strtoull(end, &end, 10);
    if (*end != ' ')
        return false;
    for (note->what = 0; note->what < SC_LEDGER_NOTE_COUNT; note->what++) {
        const char *rest = behind(end + 1, sc_ledger_word(note->what));
        note->path = rest && *rest == ' ' ? rest + 1 : NULL;
        if (rest)
            return (note->what == SC_LEDGER_REPORT) == (note->path != NULL);
    }
    return false;
}

static const char *next_note(const struct sc_run_ledger *ledger, size_t *at, struct note *note)
{
    while (*at < ledger->size) {
        const char *text = ledger->notes + *at;
        *at += strlen(text) + 1;
        if (read_note(text, note))
            return text;
    }
    return NULL;
}

static bool runs(const struct note *note)
{
    return note->started != 0 && sc_path_find_start(note->pid) == note->started;
}

static void take_notes(struct sc_run_ledger *ledger)
{
    struct note note;
    for (size_t at = 0; next_note(ledger, &at, &note);) {
        ledger->said |= 1U << note.what;
        ledger->report_count += note.what == SC_LEDGER_REPORT;
        ledger->has_living = ledger->has_living || (note.what == SC_LEDGER_REPORT && runs(&note));
    }
}

/* As much as there is now: processes that live on may note more. */
static void read_file(struct sc_run_ledger *ledger)
{
    struct stat status = {0};
    bool is_known = fstat(ledger->file, &status) == 0;
    ledger->notes = is_known ? calloc((size_t)status.st_size + 1, 1) : NULL;
    ssize_t size =
        ledger->notes ? pread(ledger->file, ledger->notes, (size_t)status.st_size, 0) : -1;
    ledger->size = size > 0 ? (size_t)size : 0;
    ledger->is_unread = size < 0 || size != status.st_size;
}

void sc_run_ledger_read(struct sc_run_ledger *ledger)
{
    if (ledger->file < 0)
        return;
    read_file(ledger);
    take_notes(ledger);
}

const char *sc_run_ledger_next_report(const struct sc_run_ledger *ledger, size_t *at)
{
    struct note note;
    while (next_note(ledger, at, &note))
        if (note.what == SC_LEDGER_REPORT)
            return note.path;
    return NULL;
}

void sc_run_ledger_free(struct sc_run_ledger *ledger)
{
    if (ledger->file >= 0)
        close(ledger->file);
    free(ledger->notes);
}
