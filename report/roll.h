/* The roll of a run: what its processes tell `safecopy run` with --strict or --format itself,
 * whatever becomes of their reports.
 *
 * A report may be where nobody looks, or get lost: the disk is full, the next process takes its
 * name, a program gives its children options of their own. So each process notes in the roll
 *
 *     where its report is, whether it could not be written, and whether it is complete
 *     that it has found hazards, or fails for another reason (each once)
 *     that it has told its verdict, or looks for nothing
 *     which process of the run it has killed
 *
 * The roll is a memfd of the command's. SAFECOPY_RUN says
 * how to get at the roll, and which file it is: "/proc/PID/fd/N:DEVICE:INODE", with ":shown" behind
 * it if the command shows the reports on stderr. A run within a run has both rolls there, the inner
 * one first, with a comma between them. A process that cannot get at a roll (another user, another
 * machine, a container) notes nothing; then its report alone speaks.
 *
 * The variable may name any file by now, or from the start. A process writes to no other file than
 * to a memfd of its own user that has the seals of a roll, exactly these, and begins with the mark
 * of one. It opens nothing else for writing, and reads nothing else but a file without a name.
 *
 * A note is "PID STARTED WORD" and a NUL; SC_ROLL_REPORT and SC_ROLL_OFF have " PATH" behind the
 * word. The mark stands before all notes, and is no note. A process that gets at the roll and
 * cannot add to it (RLIMIT_FSIZE) changes the file's mode to SC_ROLL_MODE_LACKS instead.
 *
 * No function allocates, locks, waits for anybody, or changes errno.
 */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   suppressed: healed and counted, and not reported
 *   verdict: observed, latent, correct, or none
 */

#ifndef SC_REPORT_ROLL_H
#define SC_REPORT_ROLL_H

#include <stdbool.h>
#include <stdint.h>

struct sc_path_names;

#define SC_ROLL_VARIABLE "SAFECOPY_RUN"

/* Stands behind a roll in the variable SAFECOPY_RUN if the command that made the roll shows the
 * reports on stderr. */
#define SC_ROLL_SHOWN ":shown"

/* What a roll begins with, its NUL included. */
#define SC_ROLL_MARK "safecopy run, notes 1"

/* The seals that a roll has, and nothing else: F_SEAL_SEAL | F_SEAL_SHRINK. Nobody can remove
 * notes, or change the seals. */
enum { SC_ROLL_SEALS = 0x1 | 0x2 };

/* The permissions of a roll's file when it is made, and after a process could not write a note:
 * they tell the command that notes are missing. */
enum { SC_ROLL_MODE = 0640, SC_ROLL_MODE_LACKS = 0600 };

/* The greatest size of the variable's value, with its NUL, and how many of the rolls that it names
 * are used. A command adds its roll to the value that it has inherited, or, if both together are
 * too long, passes on its own roll alone. A process ignores a longer value. If a value names more
 * rolls, the first ones that can be read are used. */
enum { SC_ROLL_VALUE_SIZE = 512, SC_ROLL_MAX = 4 };

/* What a process tells `safecopy run` of itself, or of a process that it has killed. */
enum sc_roll_note {
    SC_ROLL_REPORT,   /* the process has a report, at a path */
    SC_ROLL_LATENT,   /* it has had a latent hazard that is not suppressed */
    SC_ROLL_OBSERVED, /* it has had an observed hazard that is not suppressed */
    SC_ROLL_FAILED,   /* it fails as strict=1 would have it, for another reason: its options */
    SC_ROLL_LOST,     /* it could not make its report, or not write all lines */
    SC_ROLL_ENDED,    /* the report has its last summary */
    SC_ROLL_KILLED,   /* another process, which notes this, has sent it a signal that may end it */
    SC_ROLL_WATCHED,  /* it is watched, and its options want no report (report_path=none) */
    SC_ROLL_TOLD,     /* it has told its verdict on stderr */
    SC_ROLL_OFF, /* it has reached for the driver with mode=off; with the path of its program */
    SC_ROLL_NOTE_COUNT
};

/* Returns the word by which the note is written in a roll. */
const char *sc_roll_word(enum sc_roll_note note);

/* Sets the rolls that the other functions write to: those that `value`, the value of SAFECOPY_RUN,
 * names. If it is NULL or names none, nothing is noted. To be called before the other functions. */
void sc_roll_take(const char *value);

/* Returns the value of SAFECOPY_RUN that sc_roll_take was given, which differs from run to run; ""
 * if there is no roll. */
const char *sc_roll_value(void);

/* Returns true if the process is part of a run that wants notes. One load. */
bool sc_roll_is_there(void);

/* Notes that this process has sent process `pid` a signal that may end it (SC_ROLL_KILLED), if
 * that one runs: it cannot tell of its end. Async-signal-safe. */
void sc_roll_note_killed(int32_t pid);

/* Notes that this process would have used the driver but for mode=off (SC_ROLL_OFF). */
void sc_roll_note_off(void);

/* Adds a note of this process to the rolls. `path` may be NULL for a note without a path. Returns
 * true if a command that shows the reports on stderr has got the note: this process then need not
 * print. */
bool sc_roll_note(enum sc_roll_note note, const struct sc_path_names *names, const char *path);

#endif
