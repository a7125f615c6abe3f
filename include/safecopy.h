/* libsafecopy's C interface: what a program, a test or a tool may ask of the library, and tell it.
 *
 * Nothing is linked: each function looks the library's own up by dlsym (link -ldl before glibc
 * 2.34), once in each source that calls it. Where the library is not preloaded, every function
 * does nothing and returns 0. The library's functions bear the same names, so that ctypes, dlsym
 * and other languages' look-ups find them without this header.
 *
 * Any thread may call any function at any time, but no signal handler may. No function changes
 * errno, or fails. None but
 * safecopy_get_memory calls CUDA. In the child of a fork of a process that has used CUDA, where
 * CUDA does not work, counts are 0 and nothing else happens. Labels and ignored regions of the
 * forking thread go on in other children. exec forgets everything.
 */
#ifndef SAFECOPY_H
#define SAFECOPY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the project, and nowhere else (scripts/version). What a new one may change:
 * docs/compatibility.md. */
#define SAFECOPY_VERSION_MAJOR 0
#define SAFECOPY_VERSION_MINOR 1
#define SAFECOPY_VERSION_PATCH 0

/* To compare, and to show: "1.2.3". */
#define SAFECOPY_VERSION                                                                           \
    (10000 * SAFECOPY_VERSION_MAJOR + 100 * SAFECOPY_VERSION_MINOR + SAFECOPY_VERSION_PATCH)
#define SAFECOPY_VERSION_STRING                                                                    \
    SAFECOPY_TEXT_(SAFECOPY_VERSION_MAJOR, SAFECOPY_VERSION_MINOR, SAFECOPY_VERSION_PATCH)
#define SAFECOPY_TEXT_(major, minor, patch) SAFECOPY_TEXT_OF_(major, minor, patch)
#define SAFECOPY_TEXT_OF_(major, minor, patch) #major "." #minor "." #patch

/* A label with its NUL; a longer one, or a longer reason, is cut. */
#define SAFECOPY_LABEL_SIZE 256

/* Hazards of this process so far, equal ones included. Later versions add members at the end. */
struct safecopy_counts {
    uint64_t hazards; /* observed and latent */
    uint64_t observed;
    uint64_t latent;
    uint64_t suppressed; /* by a suppression, or since they were ignored; not among the others */
    uint64_t operations; /* asynchronous operations on host memory that were watched */
};

#ifdef SAFECOPY_DECLARATIONS
#define SAFECOPY_FUNCTION(type, name, parameters, arguments, none) type name parameters;
#define SAFECOPY_PROCEDURE(name, parameters, arguments) void name parameters;
#else

#include <dlfcn.h>
#include <string.h>

/* What was found is kept in *known; *known itself stands for nothing. RTLD_DEFAULT is NULL, and
 * hidden without _GNU_SOURCE. C++ has no _Atomic. */
static inline void *safecopy_look_up_(const char *name, void **known)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(NULL, name);
        if (!found)
            found = (void *)known;
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found == (void *)known ? NULL : found;
}

/* ISO C knows no conversion of a pointer to an object into one to a function. */
#define SAFECOPY_LOOK_UP_(type, name, parameters)                                                  \
    static void *known_;                                                                           \
    void *found_ = safecopy_look_up_(#name, &known_);                                              \
    type(*function_) parameters;                                                                   \
    memcpy(&function_, &found_, sizeof function_)

#define SAFECOPY_FUNCTION(type, name, parameters, arguments, none)                                 \
    static inline type name parameters                                                             \
    {                                                                                              \
        SAFECOPY_LOOK_UP_(type, name, parameters);                                                 \
        if (found_)                                                                                \
            return function_ arguments;                                                            \
        none;                                                                                      \
        return 0;                                                                                  \
    }
#define SAFECOPY_PROCEDURE(name, parameters, arguments)                                            \
    static inline void name parameters                                                             \
    {                                                                                              \
        SAFECOPY_LOOK_UP_(void, name, parameters);                                                 \
        if (found_)                                                                                \
            function_ arguments;                                                                   \
    }
#endif

/* SAFECOPY_VERSION of the library. 0: it is not preloaded, or mode=off. */
SAFECOPY_FUNCTION(int, safecopy_version, (void), (), (void)0)

/* Has this process used CUDA, so that it is watched? Before, all counts are 0. */
SAFECOPY_FUNCTION(int, safecopy_is_watching, (void), (), (void)0)

/* Fills in the first `size` bytes of *counts. Waits until what was found before the call is judged
 * and written to the report, at most 0.5 s; a touch behind a host function that has not returned
 * may be judged later. Returns the hazards. */
SAFECOPY_FUNCTION(uint64_t, safecopy_get_counts, (struct safecopy_counts * counts, size_t size),
                  (counts, size), memset(counts, 0, size))

/* Writes the path of this process's report into `path`, and returns its length: 0 where there is
 * none, or none yet. A path that does not fit is cut. */
SAFECOPY_FUNCTION(size_t, safecopy_get_report_path, (char *path, size_t size), (path, size),
                  size > 0 ? (void)(path[0] = '\0') : (void)0)

/* Labels what the process does from now on: the test, the request, the step. A hazard whose event
 * (the free, the touch) comes under a label has it in the report, and so has memory that is
 * allocated under it. The thread's own label comes
 * before the process's, which at first is that of the environment variable SAFECOPY_LABEL. NULL and
 * "" take the label away. The string is copied. */
SAFECOPY_PROCEDURE(safecopy_set_label, (const char *label), (label))
SAFECOPY_PROCEDURE(safecopy_set_thread_label, (const char *label), (label))

/* Hazards whose event is on the calling thread between the two are suppressed: they are counted
 * with the reason, have no line in the report, and are healed as ever. Of nested regions the outer
 * reason counts. Some sixty reasons are told apart. */
SAFECOPY_PROCEDURE(safecopy_ignore_begin, (const char *reason), (reason))
SAFECOPY_PROCEDURE(safecopy_ignore_end, (void), ())

/* Writes a summary line as of now to the report; its exit_status is null. The last one of a report
 * counts. */
SAFECOPY_PROCEDURE(safecopy_dump, (void), ())

/* Writes what the process holds of GPU memory and of page-locked memory, and who asked for it, as
 * JSON: {"memory":{...}}, as docs/report.md has it. Returns its length: 0 with memory=off, before
 * the process has used CUDA, and where it does not fit. Some 64 KB are enough for most; accounts
 * that leave no room are left out. The driver is asked what its pools have, which waits for no work
 * of the device's and disturbs no capture. */
SAFECOPY_FUNCTION(size_t, safecopy_get_memory, (char *json, size_t size), (json, size),
                  size > 0 ? (void)(json[0] = '\0') : (void)0)

/* Tells what a pool of the program's own has: of what its owner has taken of the device (-1: of the
 * host's page-locked memory) how much lies in the pool, and how much of that is in use. The report
 * has it below the owner, by whose name it is told ("PyTorch"; another name stands by itself), with
 * the call that gives back what nobody uses, or NULL. What is told last counts; with nothing
 * reserved there is no pool any more. Sixteen are kept; of a name 63 bytes. */
SAFECOPY_PROCEDURE(safecopy_set_pool,
                   (const char *owner, int device, uint64_t reserved_bytes, uint64_t used_bytes,
                    const char *given_back_by),
                   (owner, device, reserved_bytes, used_bytes, given_back_by))

/* Gives back held memory whose copies are complete, instead of a moment later. Waits at most 0.5 s.
 * Pinned and registered memory goes back when the program waits for its context. */
SAFECOPY_PROCEDURE(safecopy_release, (void), ())

#undef SAFECOPY_FUNCTION
#undef SAFECOPY_PROCEDURE
#undef SAFECOPY_LOOK_UP_

#ifdef __cplusplus
}
#endif

#endif
