/* The functions of include/safecopy.h, which says what they promise. */
#define SAFECOPY_DECLARATIONS
#include "include/safecopy.h"

#include <string.h>

#include "common/hazard.h"
#include "common/now.h"
#include "common/text.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/upcalls.h"
#include "interpose/entry/life.h"
#include "interpose/entry/memory_lines.h"
#include "interpose/ledger/booking.h"
#include "interpose/reaper/reaper.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "report/annotations.h"
#include "report/report.h"
#include "track/track_front.h"

#include "common/poison.h"

/* Copies the program's name for a pool, cut between UTF-8 characters if it does not fit. */
static void put_name(char name[SC_LEDGER_NAME_BYTES], const char *words)
{
    size_t length = strnlen(words, SC_LEDGER_NAME_BYTES);
    memcpy(name, words, sc_text_fitting(words, length, SC_LEDGER_NAME_BYTES));
}

_Static_assert(SAFECOPY_LABEL_SIZE == SC_LABEL_SIZE, "as the header says");

/* Tells the program whether the library works in it: its version, or 0 if it is off. */
SC_EXPORT int safecopy_version(void)
{
    return sc_life_is_off() ? 0 : SAFECOPY_VERSION;
}

/* Tells the program whether it is watched: it has used CUDA, and is no forked child. */
SC_EXPORT int safecopy_is_watching(void)
{
    return sc_life_is_ours();
}

/* Stores how many hazards were found so far, and returns their number; 0 in a process without CUDA.
 * Hazards that still wait for a verdict are waited for. `size` is that of the caller's struct,
 * which may be an older or a newer one. */
SC_EXPORT uint64_t safecopy_get_counts(struct safecopy_counts *counts, size_t size)
{
    struct safecopy_counts all = {0};
    struct sc_report_counts known = {0};
    SC_KEEP_ERRNO();
    if (sc_life_is_ours()) {
        sc_reaper_await_decided();
        sc_report_counts(&known);
        all = (struct safecopy_counts){known.hazards, known.observed, known.latent,
                                       known.suppressed, sc_track_operations(&sc_track)};
    }
    memset(counts, 0, size);
    memcpy(counts, &all, size < sizeof all ? size : sizeof all);
    return all.hazards;
}

/* Writes the path of this process's report, and returns its length; "" before CUDA is used. */
SC_EXPORT size_t safecopy_get_report_path(char *path, size_t size)
{
    if (size == 0)
        return 0;
    path[0] = '\0';
    if (sc_life_is_ours())
        sc_report_path(path, size);
    return strlen(path);
}

/* Labels what the process does from now on (a test, a step), for hazards that are found in it. */
SC_EXPORT void safecopy_set_label(const char *label)
{
    sc_annotations_label(label);
}

/* Labels what the calling thread does from now on, for hazards that are found in it. */
SC_EXPORT void safecopy_set_thread_label(const char *label)
{
    SC_KEEP_ERRNO();
    sc_annotations_label_thread(label);
}

/* Calls and accesses of the calling thread that come too early are no hazards from here on, for
 * `reason`, which the report tells. */
SC_EXPORT void safecopy_ignore_begin(const char *reason)
{
    SC_KEEP_ERRNO();
    sc_annotations_ignore_begin(reason);
}

/* Ends the latest safecopy_ignore_begin of the thread. */
SC_EXPORT void safecopy_ignore_end(void)
{
    sc_annotations_ignore_end();
}

/* Calls the function on the thread's stack if that has room: a summary takes 13 KB. Otherwise on
 * another thread's; but a thread that is in the driver may hold its locks, for which the other
 * would wait, so such a thread goes on a stack of its own. */
static void call_with_room(void (*function)(void *argument), void *argument)
{
    if (sc_thread_stack_has_room(SC_ROOM_BYTES))
        function(argument);
    else if (!sc_memory_lines_may_ask() || !sc_library_threads_call(function, argument))
        sc_spare_stack_call_alone(function, argument);
}

/* Writes a summary: a function that can run on another stack. */
static void dump_report(void *unused)
{
    (void)unused;
    sc_life_dump();
}

/* Writes a summary of the run so far into the report, behind the hazards that were found until now.
 */
SC_EXPORT void safecopy_dump(void)
{
    if (!sc_life_is_ours())
        return;
    SC_KEEP_ERRNO();
    sc_reaper_await_decided();
    call_with_room(dump_report, NULL);
}

/* Writes what memory the process has into `json`. Returns the text's length; 0 without CUDA. The
 * driver is asked only if this thread may call it. */
SC_EXPORT size_t safecopy_get_memory(char *json, size_t size)
{
    if (size == 0)
        return 0;
    SC_KEEP_ERRNO();
    json[0] = '\0';
    struct sc_life_question question = {json, size, sc_memory_lines_may_ask(), 0};
    if (sc_life_is_ours())
        call_with_room(sc_life_memory, &question);
    return question.length;
}

/* Notes for the ledger (who has which memory) what an allocator of the program's has reserved, and
 * used of it. Left out without an owner to name, and where no memory is booked. */
SC_EXPORT void safecopy_set_pool(const char *owner, int device, uint64_t reserved_bytes,
                                 uint64_t used_bytes, const char *given_back_by)
{
    struct sc_ledger_suballocator told = {
        .reserved_bytes = reserved_bytes,
        .used_bytes = used_bytes < reserved_bytes ? used_bytes : reserved_bytes,
        .place = sc_booking_place_of_device(device),
    };
    if (!owner || !owner[0] || !sc_life_is_ours() || !sc_booking_is_on())
        return;
    SC_KEEP_ERRNO();
    told.told_ns = sc_now_ns();
    put_name(told.owner, owner);
    put_name(told.given_back_by, given_back_by ? given_back_by : "");
    sc_ledger_note_suballocator(&sc_ledger, &told);
}

/* Frees memory now that was kept after its free for the device's sake, as far as the device is
 * done. */
SC_EXPORT void safecopy_release(void)
{
    if (sc_life_is_ours())
        sc_reaper_collect();
}
