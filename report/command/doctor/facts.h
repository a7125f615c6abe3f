/* What `safecopy doctor` has found out, as plain data.
 *
 * The files that collect facts (machine.c, asked.c, program_file.c, trial.c) do not judge, and
 * those that judge (diagnose_*.c) ask the machine nothing. Texts are as they were found, not
 * escaped for a terminal, and live as long as the scratch that the collectors were given. NULL: not
 * known, or not there. */
#ifndef SC_REPORT_COMMAND_DOCTOR_FACTS_H
#define SC_REPORT_COMMAND_DOCTOR_FACTS_H

#include "report/command/doctor/elf_facts.h"
#include "report/mechanism.h"
#include "report/options.h"
#include "report/userfaultfd.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SC_NOT_KNOWN = -1 };

/* ---- what the process that questions the driver (ask.h) has found, with or without the preload
 * ---- */

enum { SC_ASKED_RUNTIMES = 3 };

struct sc_asked_facts {
    bool has_started;    /* it gave at least one answer */
    bool has_library;    /* libsafecopy.so is in it */
    bool has_ended;      /* it gave all its answers */
    bool is_late;        /* it was killed when its time was over */
    int signal;          /* the signal that ended it; 0: none */
    const char *begun;   /* the question at which it was when it ended; NULL: none */
    const char *said;    /* on stderr, by the loader for example; "" for nothing */
    const char *driver;  /* the path of libcuda */
    const char *refused; /* why the loader did not load libcuda */
    bool is_stub;        /* a libcuda for linking alone */
    int driver_version;  /* as CUDA has it: 13000 is 13.0; SC_NOT_KNOWN */
    int init_error;      /* what cuInit returned; SC_NOT_KNOWN */
    int device_count;    /* SC_NOT_KNOWN */
    const char *device;  /* the name of the first */
    const char *runtimes[SC_ASKED_RUNTIMES]; /* paths of libcudart that the loader finds */
    const char *unwind;                      /* the path of libunwind */
    const char *refused_call; /* a system call of the library's that the Linux kernel has refused */
    int call_error;           /* its errno */
    int read_error; /* errno of process_vm_readv, by which the library reads memory; 0: none */
    enum sc_userfaultfd_state userfaultfd; /* UNASKED: it ended before that question */
};

/* What the library wrote into the report of a process. */
struct sc_came_up_facts {
    bool has_run; /* a run line */
    bool has_summary;
    bool is_unreached;   /* the process used CUDA, but no call of it came through the library */
    const char *program; /* the process's argv[0] */
    const char *version; /* of the library */
    const char *cupti_state, *cupti_library, *cupti_detail; /* docs/report.md, summary */
    size_t hazard_count;
};

/* ---- the environment ---- */

/* Lists end with a NULL, and may be NULL themselves. */
struct sc_settings_facts {
    const char *preload;           /* LD_PRELOAD */
    const char *injection;         /* CUDA_INJECTION64_PATH */
    const char *const *complaints; /* mistakes in SAFECOPY_OPTIONS */
    bool is_off;                   /* mode=off */
    enum sc_guard_mode guard;
    enum sc_mechanism mechanism; /* which mechanism the option guard selects here */
    bool serves_pinned;          /* pinned lets the library serve pinned allocations */
    int strict_status;           /* the exit status that strict=1 sets; 0: strict is off */

    const char *report;      /* where the report of a process goes; NULL: it has none */
    int report_error;        /* error of writing there: errno or one of report/place.h; 0: none */
    bool is_fifo;            /* it goes to a FIFO */
    const char *report_kept; /* why the file that is there is kept (report/place.h) */
    /* a sequence in report_path that means nothing, such as "%q"; NULL: there is none */
    const char *unknown_letter;

    const char *const
        /* the mistakes that keep the file of suppressions, or parts of it, out of force */
        *suppressions_mistakes;
    const char *const *suppressions_expired;

    /* "NAME=PATH": variables with relative folders, which the library ignores */
    const char *const *relative;
};

/* ---- the machine ---- */

struct sc_machine_facts {
    const char *release; /* of the kernel */
    const char *architecture;
    const char *libc_version; /* of the glibc that runs the command */
    long page_bytes;
    bool is_wsl;

    bool has_proc;
    int seccomp;                                 /* 0 none, 1 strict, 2 a filter; SC_NOT_KNOWN */
    int no_new_privileges, tracer, ptrace_scope; /* SC_NOT_KNOWN */

    long max_map_count;         /* SC_NOT_KNOWN */
    const char *huge_pages;     /* always, madvise or never */
    long huge_page_bytes;       /* SC_NOT_KNOWN */
    const char *module_version; /* of the kernel's part of the driver */
    int device_error;           /* of opening the device file: errno, or 0; ENOENT: there is none */

    const char *library;        /* the path of libsafecopy.so */
    const char *library_sought; /* the folder of the command */
    bool is_preloadable;        /* its path has neither blank nor colon */
    struct sc_elf_facts library_elf;

    const char *simulated;       /* the folder of a simulated GPU beside the command */
    const char *visible_devices; /* CUDA_VISIBLE_DEVICES */
    struct sc_settings_facts settings;

    struct sc_asked_facts plain, preloaded;
    struct sc_came_up_facts came_up;
};

/* ---- a program's files ---- */

enum sc_file_kind { SC_FILE_NONE, SC_FILE_ELF, SC_FILE_SCRIPT, SC_FILE_OTHER };

struct sc_file_facts {
    const char *path; /* where it was found, or what was looked for */
    bool is_beside;   /* PATH has no such program, but the working folder has; `error` is ENOENT */
    int error;        /* of finding or reading it: errno, or 0 */
    bool is_executable;
    bool is_folder;
    enum sc_file_kind kind;
    const char *interpreter; /* of a script, with its argument as one text */
    /* the file has set-user-ID, set-group-ID or capabilities, and the kernel honours them */
    bool changes_user, changes_group, has_capabilities;
    bool is_elf_loader_here; /* the loader that it names is there */
    const char *elf_loader;  /* what that is a link to */
    struct sc_elf_facts elf;
};

/* How many scripts, one interpreting the other, the Linux kernel follows. */
enum { SC_FILES_MAX = 6 };

/* The program, and the interpreters of scripts after it: the last one is what runs. */
struct sc_program_facts {
    struct sc_file_facts files[SC_FILES_MAX];
    size_t count; /* at least 1 */
};

/* ---- a trial ---- */

struct sc_trial_facts {
    int error;       /* of starting it: errno, or 0 */
    int wait_status; /* as wait(2) has it */

    /* What the loaders of its processes wrote. */
    size_t process_count; /* programs that were started and wrote anything */
    size_t reached_count; /* in which the library was loaded */
    const char *missed;   /* the name of the first in which it was not */
    bool loaded_driver;   /* one of them at least loaded libcuda */
    /* the name of the first program that loaded libcuda without the library */
    const char *passed_by;
    const char *not_found; /* the library that a loader looked for when it gave the program up */
    bool is_off;           /* the options have mode=off */
    int strict_status;     /* as the settings have it */

    /* What the library wrote. */
    size_t report_count; /* processes that reported, */
    /* how many of these made CUDA calls that did not come through the library */
    size_t unreached_count;
    size_t unended_count; /* whose reports have no summary */
    size_t hazard_count;
    const char *unreached; /* the name of the first process that `unreached_count` counts */
};

#endif
