/* What `safecopy doctor` makes of facts: a machine, a program and a trial in which all is well,
 * each with one thing changed.
 */
#include "report/command/doctor/architecture.h"
#include "report/command/doctor/diagnosis.h"
#include "report/version.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct sc_scratch scratch;
static struct sc_diagnosis diagnosis;

static void set_up(void)
{
    scratch = (struct sc_scratch){0};
    diagnosis = (struct sc_diagnosis){.scratch = &scratch};
}

static void tear_down(void)
{
    sc_scratch_free(&scratch);
}

static const struct sc_finding *find(const char *id)
{
    for (size_t i = 0; i < diagnosis.count; i++)
        if (strcmp(diagnosis.findings[i].id, id) == 0)
            return &diagnosis.findings[i];
    return NULL;
}

/* What holds of every diagnosis. */
static void check_findings(void)
{
    size_t problems = 0;
    for (size_t i = 0; i < diagnosis.count; i++) {
        const struct sc_finding *finding = &diagnosis.findings[i];
        bool is_problem = finding->level == SC_LEVEL_PROBLEM;
        problems += is_problem;
        ck_assert_msg(!is_problem || finding->remedy, "%s has no remedy", finding->id);
        ck_assert_msg(finding->id[strspn(finding->id, "abcdefghijklmnopqrstuvwxyz-")] == '\0', "%s",
                      finding->id);
        ck_assert_msg(!strstr(finding->text, "(null)"), "%s", finding->text);
        ck_assert_uint_gt(strlen(finding->text), 0);
    }
    ck_assert_uint_eq(problems, diagnosis.problem_count);
}

/* There is this finding, and no other problem than it. */
static void expect(const char *id, enum sc_level level)
{
    const struct sc_finding *finding = find(id);
    check_findings();
    ck_assert_msg(finding, "there is no %s", id);
    ck_assert_msg(finding->level == level, "%s: %s", id, finding->text);
    for (size_t i = 0; i < diagnosis.count; i++)
        ck_assert_msg(diagnosis.findings[i].level != SC_LEVEL_PROBLEM ||
                          &diagnosis.findings[i] == finding,
                      "beside %s: %s", id, diagnosis.findings[i].text);
}

/* ---- the machine ---- */

static const char *const no_complaints[] = {NULL};
static const char *const two_complaints[] = {"no option 'x'", "no option 'y'", NULL};

static struct sc_machine_facts good_machine(void)
{
    const struct sc_asked_facts asked = {
        .has_started = true,
        .has_ended = true,
        .begun = "cuInit",
        .said = "",
        .driver = "/usr/lib/libcuda.so.1",
        .driver_version = 13000,
        .init_error = 0,
        .device_count = 8,
        .device = "H200",
        .runtimes = {"/usr/lib/libcudart.so.13"},
        .unwind = "/usr/lib/libunwind.so.8",
        .userfaultfd = SC_USERFAULTFD_OPENED,
    };
    struct sc_machine_facts facts = {
        .release = "6.8.0-45-generic",
        .architecture = "x86_64",
        .libc_version = "2.39",
        .page_bytes = 4096,
        .has_proc = true,
        .no_new_privileges = 0,
        .ptrace_scope = 1,
        .max_map_count = 65530,
        .huge_pages = "madvise",
        .huge_page_bytes = 2 << 20,
        .module_version = "580.65.06",
        .library = "/opt/lib/libsafecopy.so",
        .library_sought = "/opt/bin",
        .is_preloadable = true,
        .library_elf = {.is_elf = true, .is_64_bit = true},
        .settings = {.complaints = no_complaints,
                     .guard = SC_GUARD_ON,
                     .mechanism = SC_MECHANISM_USERFAULTFD,
                     .serves_pinned = true},
        .plain = asked,
        .preloaded = asked,
        .came_up = {.has_run = true,
                    .has_summary = true,
                    .version = SC_VERSION,
                    .cupti_state = "listening",
                    .cupti_library = "/usr/lib/libcupti.so.13"},
    };
    facts.library_elf.machine = sc_architecture_own();
    facts.preloaded.has_library = true;
    return facts;
}

static void without_driver(struct sc_machine_facts *facts)
{
    struct sc_asked_facts *asked[] = {&facts->plain, &facts->preloaded};
    for (int i = 0; i < 2; i++) {
        asked[i]->driver = NULL;
        asked[i]->refused = "libcuda.so.1: cannot open shared object file";
        asked[i]->driver_version = asked[i]->init_error = asked[i]->device_count = SC_NOT_KNOWN;
    }
    facts->came_up = (struct sc_came_up_facts){0};
}

static void refused(struct sc_machine_facts *facts, int error)
{
    facts->plain.init_error = facts->preloaded.init_error = error;
    facts->plain.device_count = SC_NOT_KNOWN;
    facts->came_up = (struct sc_came_up_facts){0};
}

static void unloaded(struct sc_machine_facts *facts, const char *said)
{
    facts->preloaded = (struct sc_asked_facts){.said = said};
    facts->came_up = (struct sc_came_up_facts){0};
}

static void crashed(struct sc_machine_facts *facts)
{
    refused(facts, SC_NOT_KNOWN);
    facts->plain.has_ended = facts->preloaded.has_ended = false;
}

static const char *const lines[] = {"of.supp:1:1: 'code' is missing", NULL};

static void refuse(struct sc_machine_facts *f, int error)
{
    f->settings.report = "/var/r.jsonl";
    f->settings.report_error = error;
}

static void guards(struct sc_machine_facts *f, enum sc_guard_mode guard,
                   enum sc_userfaultfd_state state)
{
    f->settings.guard = guard;
    f->settings.mechanism =
        guard == SC_GUARD_MPROTECT ? SC_MECHANISM_MPROTECT : SC_MECHANISM_USERFAULTFD;
    f->plain.userfaultfd = state;
}

static void has_swap(struct sc_machine_facts *f, enum sc_userfaultfd_state state)
{
    guards(f, SC_GUARD_ON, state);
    f->settings.mechanism = SC_MECHANISM_MPROTECT_FOR_SWAP;
}

#define MACHINES(X)                                                                                \
    X(OK, "system", (void)f)                                                                       \
    X(PROBLEM, "old-kernel", f->release = "4.15.0"; f->huge_pages = "never")                       \
    X(OK, "system", f->release = "4.18.0-553.el8")                                                 \
    X(OK, "system", f->release = NULL)                                                             \
    X(PROBLEM, "old-glibc", f->libc_version = "2.27")                                              \
    X(NOTE, "wsl", f->is_wsl = true)                                                               \
    X(PROBLEM, "no-proc", f->has_proc = false)                                                     \
    X(OK, "no-seccomp", f->seccomp = 0)                                                            \
    X(PROBLEM, "call-refused", f->seccomp = 2; f->plain.refused_call = "mincore")                  \
    X(PROBLEM, "call-refused", f->plain.read_error = EINVAL)                                       \
    X(NOTE, "call-refused", f->seccomp = 2; f->plain.read_error = EPERM)                           \
    X(NOTE, "call-refused", f->plain.read_error = ENOSYS)                                          \
    X(PROBLEM, "call-kills", crashed(f); f->plain.signal = SIGSYS)                                 \
    X(NOTE, "seccomp", f->seccomp = 2)                                                             \
    X(NOTE, "traced", f->tracer = 77)                                                              \
    X(OK, "ptrace-scope", f->ptrace_scope = 2)                                                     \
    X(OK, "ptrace", f->ptrace_scope = SC_NOT_KNOWN)                                                \
    X(OK, "map-count", f->max_map_count = 262144)                                                  \
    X(OK, "huge-pages", f->huge_pages = "always")                                                  \
    X(PROBLEM, "low-map-count", f->max_map_count = 65529)                                          \
    X(NOTE, "map-count-unknown", f->max_map_count = SC_NOT_KNOWN)                                  \
    X(NOTE, "no-huge-pages", f->huge_pages = "never")                                              \
    X(NOTE, "huge-pages-unknown", f->huge_pages = NULL)                                            \
    X(NOTE, "other-huge-pages", f->page_bytes = 65536)                                             \
    X(NOTE, "old-huge-pages", f->release = "6.0.9")                                                \
    X(PROBLEM, "library-not-found", f->library = NULL; unloaded(f, NULL))                          \
    X(PROBLEM, "library-path", f->is_preloadable = false; unloaded(f, NULL))                       \
    X(PROBLEM, "library-architecture", f->library_elf.machine++; unloaded(f, ""))                  \
    X(PROBLEM, "library-architecture", f->library_elf.is_64_bit = false; unloaded(f, ""))          \
    X(PROBLEM, "library-not-loaded", unloaded(f, "libc.so.6: version `GLIBC_2.38' not found\nx"))  \
    X(PROBLEM, "library-crashes", unloaded(f, ""); f->preloaded.signal = SIGSEGV)                  \
    X(PROBLEM, "library-version", f->came_up.version = "0.0.9")                                    \
    X(PROBLEM, "start-fails", f->preloaded.has_ended = false; f->came_up.has_summary = false)      \
    X(PROBLEM, "end-fails", f->preloaded.is_late = true)                                           \
    X(PROBLEM, "start-unseen", f->came_up.has_run = false)                                         \
    X(PROBLEM, "start-unseen", f->came_up.is_unreached = true)                                     \
    X(OK, "library-loads", f->came_up.version = NULL)                                              \
    X(OK, "unwind", (void)f)                                                                       \
    X(OK, "comes-up", (void)f)                                                                     \
    X(PROBLEM, "no-unwind", f->plain.unwind = NULL)                                                \
    X(PROBLEM, "driver-not-found", without_driver(f))                                              \
    X(NOTE, "not-tried", refused(f, 0); without_driver(f); f->plain.refused = NULL)                \
    X(PROBLEM, "init-failed", refused(f, 803))                                                     \
    X(PROBLEM, "init-failed", refused(f, 12345))                                                   \
    X(PROBLEM, "devices-hidden", refused(f, 100); f->visible_devices = "")                         \
    X(PROBLEM, "no-devices", f->plain.device_count = 0)                                            \
    X(PROBLEM, "driver-crashes", crashed(f))                                                       \
    X(PROBLEM, "driver-is-stub", refused(f, SC_NOT_KNOWN); f->plain.is_stub = true)                \
    X(NOTE, "driver-version", f->plain.driver_version = SC_NOT_KNOWN)                              \
    X(PROBLEM, "device-refused", f->device_error = EACCES)                                         \
    X(OK, "devices", f->device_error = ENOENT; f->module_version = NULL)                           \
    X(OK, "kernel-module", (void)f)                                                                \
    X(PROBLEM, "not-asked", refused(f, SC_NOT_KNOWN); f->plain.has_started = false)                \
    X(OK, "cudart", (void)f)                                                                       \
    X(OK, "no-cudart", f->plain.runtimes[0] = NULL)                                                \
    X(NOTE, "cupti-unusable", f->came_up.cupti_state = "absent")                                   \
    X(NOTE, "cupti-unusable", f->came_up.cupti_state = "held"; f->came_up.cupti_detail = "nsys")   \
    X(NOTE, "cupti-unusable", f->came_up.cupti_state = "a new word")                               \
    X(NOTE, "cupti-unknown", f->came_up.cupti_state = NULL)                                        \
    X(NOTE, "guard-off", f->settings.guard = SC_GUARD_OFF)                                         \
    X(OK, "guard-mprotect", guards(f, SC_GUARD_MPROTECT, SC_USERFAULTFD_FILTERED))                 \
    X(OK, "guard-userfaultfd", guards(f, SC_GUARD_ON, SC_USERFAULTFD_OPENED))                      \
    X(NOTE, "guard-no-userfaultfd", guards(f, SC_GUARD_ON, SC_USERFAULTFD_OLD_KERNEL))             \
    X(NOTE, "guard-could-be-userfaultfd", has_swap(f, SC_USERFAULTFD_OPENED))                      \
    X(NOTE, "guard-could-be-userfaultfd", has_swap(f, SC_USERFAULTFD_OPENED);                      \
      f->settings.mechanism = SC_MECHANISM_MPROTECT_FOR_FILTER)                                    \
    X(NOTE, "guard-mprotect-alone", has_swap(f, SC_USERFAULTFD_OLD_KERNEL))                        \
    X(OK, "guard-userfaultfd", guards(f, SC_GUARD_UFFD, SC_USERFAULTFD_OPENED))                    \
    X(NOTE, "guard-no-userfaultfd", guards(f, SC_GUARD_UFFD, SC_USERFAULTFD_KILLED))               \
    X(NOTE, "guard-unknown", guards(f, SC_GUARD_UFFD, SC_USERFAULTFD_UNASKED))                     \
    X(NOTE, "guard-nothing-served", guards(f, SC_GUARD_UFFD, SC_USERFAULTFD_OPENED);               \
      f->settings.serves_pinned = false)                                                           \
    X(NOTE, "guard-nothing-served", guards(f, SC_GUARD_UFFD, SC_USERFAULTFD_OPENED);               \
      f->huge_pages = "never")                                                                     \
    X(PROBLEM, "mode-off", f->settings.is_off = true; f->came_up.has_run = true)                   \
    X(PROBLEM, "reports-refused", refuse(f, EROFS))                                                \
    X(PROBLEM, "reports-refused", refuse(f, ENXIO))                                                \
    X(NOTE, "report-kept", refuse(f, 0); f->settings.report_kept = "is no report")                 \
    X(NOTE, "report-fifo", refuse(f, 0); f->settings.is_fifo = true)                               \
    X(NOTE, "report-letter", f->settings.unknown_letter = "%q")                                    \
    X(PROBLEM, "bad-suppressions", f->settings.suppressions_mistakes = lines)                      \
    X(NOTE, "expired-suppression", f->settings.suppressions_expired = lines)                       \
    X(NOTE, "relative-variable", f->settings.relative = lines)                                     \
    X(OK, "settings", refuse(f, 0))                                                                \
    X(NOTE, "preloaded", f->settings.preload = "/opt/lib/libsafecopy.so")                          \
    X(NOTE, "relative-preload", f->settings.preload = "/opt/a.so:out/libsafecopy.so")              \
    X(NOTE, "preloaded", f->settings.preload = "libsafecopy.so")                                   \
    X(NOTE, "other-preload", f->settings.preload = "/opt/lib/libjemalloc.so")                      \
    X(OK, "settings", f->settings.preload = ""; f->settings.injection = "")                        \
    X(NOTE, "other-injection", f->settings.injection = "/opt/profiler.so")

static const struct {
    enum sc_level level;
    const char *id;
} machines[] = {
#define ROW(level, id, change) {SC_LEVEL_##level, id},
    MACHINES(ROW)
#undef ROW
};

static void change_machine(int row, struct sc_machine_facts *f)
{
    int at = 0;
#define ROW(level, id, change)                                                                     \
    if (at++ == row) {                                                                             \
        change;                                                                                    \
    }
    MACHINES(ROW)
#undef ROW
}

START_TEST(of_a_machine)
{
    struct sc_machine_facts facts = good_machine();
    change_machine(_i, &facts);
    sc_diagnosis_of_machine(&diagnosis, &facts);
    expect(machines[_i].id, machines[_i].level);
}
END_TEST

START_TEST(all_is_said_of_a_good_machine)
{
    static const char *const sections[] = {"system",  "limits", "memory", "driver",  "runtime",
                                           "library", "cupti",  "guard",  "settings"};
    struct sc_machine_facts facts = good_machine();
    size_t at = 0;
    sc_diagnosis_of_machine(&diagnosis, &facts);
    check_findings();
    for (size_t i = 0; i < diagnosis.count; i++) {
        ck_assert_int_eq(diagnosis.findings[i].level, SC_LEVEL_OK);
        if (strcmp(diagnosis.findings[i].section, sections[at]) != 0)
            at++;
        ck_assert_str_eq(diagnosis.findings[i].section, sections[at]);
    }
    ck_assert_uint_eq(at + 1, sizeof sections / sizeof sections[0]);
}
END_TEST

START_TEST(each_complaint_is_a_problem)
{
    struct sc_machine_facts facts = good_machine();
    facts.settings.complaints = two_complaints;
    sc_diagnosis_of_machine(&diagnosis, &facts);
    check_findings();
    ck_assert_uint_eq(diagnosis.problem_count, 2);
    ck_assert_str_eq(find("bad-option")->text, two_complaints[0]);
}
END_TEST

/* Each with what it is and, where there is one, how to get it: a line each. */
START_TEST(each_reason_is_told_with_its_remedy)
{
    struct sc_machine_facts facts = good_machine();
    guards(&facts, SC_GUARD_UFFD, (enum sc_userfaultfd_state)_i);
    sc_diagnosis_of_machine(&diagnosis, &facts);
    const struct sc_finding *found = find("guard-no-userfaultfd");
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_nonnull(strstr(found->text, sc_userfaultfd_words(facts.plain.userfaultfd)));
    ck_assert_ptr_eq(found->remedy, sc_userfaultfd_remedy(facts.plain.userfaultfd));
    ck_assert(found->remedy && !strchr(found->remedy, '\n') && strlen(found->remedy) < 200);
}
END_TEST

START_TEST(an_old_glibc_is_told_from_other_refusals)
{
    static const char *const said[] = {"version `GLIBC_2.38' not found", "failed to map segment",
                                       "cannot allocate memory in static TLS block", "what?"};
    const char *remedies[4];
    for (int i = 0; i < 4; i++) {
        struct sc_machine_facts facts = good_machine();
        unloaded(&facts, said[i]);
        diagnosis = (struct sc_diagnosis){.scratch = &scratch};
        sc_diagnosis_of_machine(&diagnosis, &facts);
        remedies[i] = find("library-not-loaded")->remedy;
        ck_assert_ptr_nonnull(strstr(find("library-not-loaded")->text, said[i]));
        for (int other = 0; other < i; other++)
            ck_assert_str_ne(remedies[i], remedies[other]);
    }
    ck_assert_ptr_nonnull(strstr(remedies[0], "wheel"));
}
END_TEST

/* ---- a program ---- */

static struct sc_program_facts good_program(void)
{
    struct sc_program_facts facts = {.files = {{.path = "/opt/app",
                                                .is_executable = true,
                                                .kind = SC_FILE_ELF,
                                                .is_elf_loader_here = true,
                                                .elf_loader = "/usr/lib/ld-linux-x86-64.so.2",
                                                .elf = {.is_elf = true,
                                                        .is_64_bit = true,
                                                        .is_program = true,
                                                        .is_position_independent = true,
                                                        .has_entry = true,
                                                        .has_code = true,
                                                        .has_loader = true,
                                                        .loader = "/lib64/ld-linux-x86-64.so.2",
                                                        .has_dynamic = true,
                                                        .calls_itself_pie = true,
                                                        .cudart = "libcudart.so.13"}}},
                                     .count = 1};
    facts.files[0].elf.machine = sc_architecture_own();
    return facts;
}

static void as_script(struct sc_program_facts *facts)
{
    facts->files[1] = facts->files[0];
    facts->files[0] = (struct sc_file_facts){.path = "/opt/run.sh",
                                             .is_executable = true,
                                             .kind = SC_FILE_SCRIPT,
                                             .interpreter = "/bin/sh -e"};
    facts->count = 2;
}

static void as_library(struct sc_program_facts *facts)
{
    facts->files[0].elf.has_loader = facts->files[0].elf.calls_itself_pie = false;
    facts->files[0].elf.loader = NULL;
}

static void as_static(struct sc_program_facts *facts)
{
    as_library(facts);
    facts->files[0].elf.is_position_independent = false;
}

#define YES true
#define NO false
#define PROGRAMS(X)                                                                                \
    X(OK, YES, "elf", (void)f)                                                                     \
    X(OK, YES, "reached-by-preload", (void)f)                                                      \
    X(OK, YES, "cudart-linked", (void)f)                                                           \
    X(OK, YES, "driver-linked", f->elf.cudart = NULL; f->elf.driver = "libcuda.so.1")              \
    X(OK, YES, "cudart-inside", f->elf.cudart = NULL; f->elf.has_cudart_inside = true)             \
    X(OK, YES, "driver-opened", f->elf.cudart = NULL; f->elf.names_driver = true)                  \
    X(NOTE, YES, "device-code-only", f->elf.cudart = NULL; f->elf.has_device_code = true)          \
    X(NOTE, YES, "cuda-elsewhere", f->elf.cudart = NULL)                                           \
    X(NOTE, YES, "own-allocator", f->elf.defines_free = true)                                      \
    X(NOTE, YES, "symbolic", f->elf.is_symbolic = true)                                            \
    X(NOTE, YES, "interpose", f->elf.asks_to_interpose = true)                                     \
    X(NOTE, YES, "dlmopen", f->elf.opens_namespaces = true)                                        \
    X(PROBLEM, NO, "program-not-found", f->error = ENOENT; f->is_executable = false)               \
    X(PROBLEM, NO, "program-is-folder", f->error = EISDIR; f->is_folder = true)                    \
    X(PROBLEM, NO, "program-not-executable", f->is_executable = false)                             \
    X(PROBLEM, NO, "program-not-readable", f->error = EIO)                                         \
    X(PROBLEM, NO, "program-not-readable", f->error = ELOOP; f->is_executable = false)             \
    X(PROBLEM, NO, "program-not-readable", f->error = ENOTSUP; f->is_executable = false)           \
    X(PROBLEM, NO, "program-not-found", f->error = ENOENT; f->path = "")                           \
    X(NOTE, YES, "program-not-read", f->error = EACCES; f->kind = SC_FILE_NONE)                    \
    X(PROBLEM, NO, "unknown-format", f->kind = SC_FILE_OTHER)                                      \
    X(PROBLEM, NO, "other-architecture", f->elf.machine++)                                         \
    X(PROBLEM, NO, "other-architecture", f->elf.is_64_bit = false)                                 \
    X(PROBLEM, YES, "setuid", f->changes_user = true)                                              \
    X(PROBLEM, YES, "setgid", f->changes_group = true)                                             \
    X(PROBLEM, YES, "capabilities", f->has_capabilities = true)                                    \
    X(PROBLEM, NO, "not-a-program", f->elf.is_program = false; f->elf.has_loader = false)          \
    X(PROBLEM, NO, "damaged", f->elf.has_code = false)                                             \
    X(PROBLEM, YES, "static", as_static(all))                                                      \
    X(PROBLEM, YES, "static", f->elf.has_loader = false)                                           \
    X(NOTE, YES, "is-loader", as_library(all))                                                     \
    X(NOTE, NO, "is-library", as_library(all); f->elf.has_entry = false)                           \
    X(PROBLEM, YES, "musl", f->elf.loader = "/lib/ld-musl-x86_64.so.1")                            \
    X(PROBLEM, YES, "musl", f->elf_loader = "/lib/ld-musl-x86_64.so.1")                            \
    X(PROBLEM, YES, "musl", f->elf_loader = "/lib/libgcompat.so.0")                                \
    X(PROBLEM, NO, "loader-not-found", f->is_elf_loader_here = false)                              \
    X(PROBLEM, NO, "loader-not-found", f->elf.loader = NULL; f->is_elf_loader_here = false)        \
    X(NOTE, YES, "other-loader", f->elf.loader = "/system/bin/linker64")                           \
    X(OK, YES, "reached-by-preload", f->elf.loader = "/nix/store/glibc/lib/ld-linux-x86-64.so.2")  \
    X(OK, YES, "script", as_script(all))                                                           \
    X(PROBLEM, NO, "interpreter-not-found", as_script(all); all->files[1].error = ENOENT;          \
      all->files[1].is_executable = false)                                                         \
    X(PROBLEM, NO, "program-not-executable", as_script(all); f->is_executable = false)             \
    X(PROBLEM, NO, "interpreter-not-known", as_script(all); all->count = 1)

static const struct {
    enum sc_level level;
    bool is_startable;
    const char *id;
} programs[] = {
#define ROW(level, is_startable, id, change) {SC_LEVEL_##level, is_startable, id},
    PROGRAMS(ROW)
#undef ROW
};

static void change_program(int row, struct sc_program_facts *all)
{
    struct sc_file_facts *f = &all->files[0];
    int at = 0;
#define ROW(level, is_startable, id, change)                                                       \
    if (at++ == row) {                                                                             \
        change;                                                                                    \
    }
    PROGRAMS(ROW)
#undef ROW
}

START_TEST(of_a_program)
{
    struct sc_program_facts facts = good_program();
    change_program(_i, &facts);
    sc_diagnosis_of_program(&diagnosis, &facts);
    expect(programs[_i].id, programs[_i].level);
    ck_assert_msg(sc_diagnosis_is_startable(&facts) == programs[_i].is_startable, "%s",
                  programs[_i].id);
}
END_TEST

START_TEST(nothing_good_is_said_of_what_no_preload_reaches)
{
    struct sc_program_facts facts = good_program();
    facts.files[0].changes_user = true;
    sc_diagnosis_of_program(&diagnosis, &facts);
    ck_assert_ptr_null(find("reached-by-preload"));
    facts = good_program();
    as_static(&facts);
    facts.files[0].elf.defines_free = true;
    diagnosis.count = diagnosis.problem_count = 0;
    sc_diagnosis_of_program(&diagnosis, &facts);
    expect("static", SC_LEVEL_PROBLEM);
    ck_assert_ptr_null(find("cudart-linked"));
    ck_assert_ptr_null(find("own-allocator"));
}
END_TEST

/* ---- a trial ---- */

static struct sc_trial_facts good_trial(void)
{
    return (struct sc_trial_facts){
        .process_count = 2, .reached_count = 2, .loaded_driver = true, .report_count = 1};
}

static void without_report(struct sc_trial_facts *f)
{
    f->report_count = 0;
}

static void unreached(struct sc_trial_facts *f, size_t count)
{
    f->unreached_count = count;
    f->unreached = "/opt/app";
}

#define TRIALS(X)                                                                                  \
    X(OK, "came-up", (void)f)                                                                      \
    X(OK, "exit-status", (void)f)                                                                  \
    X(NOTE, "exit-status", f->wait_status = 3 << 8)                                                \
    X(NOTE, "strict-status", f->wait_status = 66 << 8; f->strict_status = 66)                      \
    X(NOTE, "exit-status", f->wait_status = 3 << 8; f->strict_status = 66)                         \
    X(NOTE, "ended-by-signal", f->wait_status = SIGSEGV)                                           \
    X(NOTE, "hazards", f->hazard_count = 1)                                                        \
    X(NOTE, "no-summary", f->unended_count = 1)                                                    \
    X(PROBLEM, "not-started", f->error = ENOEXEC)                                                  \
    X(PROBLEM, "unreached", unreached(f, 1))                                                       \
    X(PROBLEM, "unreached", f->report_count = 2; unreached(f, 1); f->unreached = NULL)             \
    X(PROBLEM, "not-loaded", without_report(f); f->reached_count = 0; f->process_count = 0)        \
    X(PROBLEM, "not-loaded", without_report(f); f->reached_count = 0; f->passed_by = "/opt/app")   \
    X(PROBLEM, "not-begun", without_report(f); f->reached_count = 0; f->not_found = "libx.so")     \
    X(NOTE, "driver-unused", without_report(f))                                                    \
    X(NOTE, "no-cuda", without_report(f); f->loaded_driver = false)                                \
    X(NOTE, "off", without_report(f); f->is_off = true)                                            \
    X(NOTE, "lost-on-the-way", f->reached_count = 1; f->missed = "/opt/b")                         \
    X(PROBLEM, "driver-without-library", f->reached_count = 1; f->missed = "/opt/b";               \
      f->passed_by = "/opt/b")

static const struct {
    enum sc_level level;
    const char *id;
} trials[] = {
#define ROW(level, id, change) {SC_LEVEL_##level, id},
    TRIALS(ROW)
#undef ROW
};

static void change_trial(int row, struct sc_trial_facts *f)
{
    int at = 0;
#define ROW(level, id, change)                                                                     \
    if (at++ == row) {                                                                             \
        change;                                                                                    \
    }
    TRIALS(ROW)
#undef ROW
}

START_TEST(of_a_trial)
{
    struct sc_trial_facts facts = good_trial();
    change_trial(_i, &facts);
    sc_diagnosis_of_trial(&diagnosis, &facts);
    expect(trials[_i].id, trials[_i].level);
}
END_TEST

START_TEST(the_unreached_have_not_come_up)
{
    struct sc_trial_facts facts = good_trial();
    unreached(&facts, 1);
    sc_diagnosis_of_trial(&diagnosis, &facts);
    ck_assert_ptr_null(find("came-up"));
    diagnosis.count = diagnosis.problem_count = 0;
    facts.report_count = 3;
    sc_diagnosis_of_trial(&diagnosis, &facts);
    ck_assert_ptr_nonnull(strstr(find("came-up")->text, "2 processes"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("doctor");
    TCase *group = tcase_create("diagnosis");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_loop_test(group, of_a_machine, 0, (int)(sizeof machines / sizeof machines[0]));
    tcase_add_test(group, all_is_said_of_a_good_machine);
    tcase_add_test(group, each_complaint_is_a_problem);
    tcase_add_loop_test(group, each_reason_is_told_with_its_remedy, SC_USERFAULTFD_OLD_KERNEL,
                        SC_USERFAULTFD_LOST);
    tcase_add_test(group, an_old_glibc_is_told_from_other_refusals);
    tcase_add_loop_test(group, of_a_program, 0, (int)(sizeof programs / sizeof programs[0]));
    tcase_add_test(group, nothing_good_is_said_of_what_no_preload_reaches);
    tcase_add_loop_test(group, of_a_trial, 0, (int)(sizeof trials / sizeof trials[0]));
    tcase_add_test(group, the_unreached_have_not_come_up);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
