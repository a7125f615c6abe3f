#include "interpose/ledger/unaccounted.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/kernel.h"
#include "common/own_pages.h"
#include "common/text.h"
#include "interpose/base/process.h"
#include "interpose/driver/made_here.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/memory_kinds.h"
#include "ledger/ledger_words.h"
#include "ledger/statement.h"
#include "report/libraries.h"

#include "common/poison.h"

enum {
    PROCESSES_MAX = 512,
    STEP_BYTES = 1 << 20,
    TRIES = 4,
    AGAIN_MAX = 10,
    PAUSE_NS = 20 * 1000 * 1000,
    UUID_TEXT_BYTES = 48
};

_Atomic uint32_t sc_unaccounted_news;
_Atomic bool sc_unaccounted_stops, sc_unaccounted_opens;

/* ---- NVML, without its header ---- */

struct nvml_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

typedef int nvml_init(void);
typedef int nvml_by_uuid(const char *uuid, void **device);
typedef int nvml_processes(void *device, unsigned *count, struct nvml_process *processes);

static struct {
    bool is_open, is_tried;
    nvml_by_uuid *by_uuid;
    nvml_processes *processes;
} nvml; /* the thread's own */

/* Does the process end, so that NVML must not be called any more? */
static bool is_stopping(void)
{
    return atomic_load(&sc_unaccounted_stops);
}

/* Loads NVML, which tells how much memory the driver holds for this process, and starts it. NVML
 * stays closed if it lacks a function, or if the process ends meanwhile. */
static void load_nvml(void)
{
    void *library = sc_libraries_open("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    nvml_init *init = library ? (nvml_init *)dlsym(library, "nvmlInit_v2") : NULL;
    if (!init)
        return;
    nvml.by_uuid = (nvml_by_uuid *)dlsym(library, "nvmlDeviceGetHandleByUUID");
    nvml.processes = (nvml_processes *)dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    nvml.is_open = !is_stopping() && nvml.by_uuid && nvml.processes && init() == 0;
}

/* Loads NVML, once. A flag says meanwhile that this is under way, since it takes long, and the end
 * of the process has to wait for it. */
static void open_nvml(void)
{
    nvml.is_tried = true;
    atomic_store(&sc_unaccounted_opens, true);
    if (!is_stopping())
        load_nvml();
    atomic_store(&sc_unaccounted_opens, false);
}

/* Returns NVML's handle of a device or of a MIG instance, by its UUID; NULL: unknown. The driver
 * does not say which of the two it is, so both prefixes are tried. */
static void *find_device(const struct sc_statement_place *place)
{
    static const char *const prefixes[] = {"GPU", "MIG"};
    char uuid[UUID_TEXT_BYTES];
    void *device = NULL;
    for (unsigned i = 0; i < 2 && place->has_uuid && !device; i++) {
        struct sc_text text = sc_text_in(uuid, sizeof uuid);
        sc_statement_put_uuid(&text, prefixes[i], place->uuid);
        if (nvml.by_uuid(uuid, &device) != 0)
            device = NULL;
    }
    return device;
}

/* Asks NVML how much memory this process has on the device. False if it does not tell, or if the
 * process ends. In a PID namespace NVML may list another process under this one's number. */
static bool ask_nvml(const struct sc_statement_place *place, uint64_t *bytes)
{
    static struct nvml_process processes[PROCESSES_MAX];
    unsigned count = PROCESSES_MAX;
    void *device = is_stopping() ? NULL : find_device(place);
    if (!device || is_stopping() || nvml.processes(device, &count, processes) != 0 ||
        count > PROCESSES_MAX)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == (unsigned)getpid()) {
            *bytes = processes[i].bytes;
            return *bytes <= INT64_MAX; /* or else it is not available */
        }
    return false;
}

/* ---- calls that may have been it ---- */

static struct {
    struct sc_brief_lock lock;
    uint32_t origin; /* under the lock, as is all below; 0: none was noted */
    unsigned weight;
    unsigned looks; /* that are due, for a function's first launch */
    struct sc_statement_unaccounted places[SC_LEDGER_DEVICES];
    struct sc_statement_mention steps[SC_STATEMENT_STEPS];
    unsigned step_count;
} found;

static _Atomic bool is_on;

/* Notes that there is a thread that asks NVML; without it calls are not noted. */
void sc_unaccounted_start(void)
{
    atomic_store(&is_on, true);
}

/* How much a call of this kind takes: of several calls between two looks the heaviest is named. 0:
 * it does not matter. */
static const uint8_t weights[SC_MEMORY_KINDS] = {
    [SC_MEMORY_CONTEXT] = 4,
    [SC_MEMORY_LIMIT] = 3,
    [SC_MEMORY_MODULE] = 2,
    [SC_MEMORY_LINK] = 2,
    [SC_MEMORY_PEER] = 2,
    [SC_MEMORY_FUNCTION] = 1,
    [SC_MEMORY_FUNCTION_SETTING] = 1,
};

/* Called after a call for which the driver may have taken memory that the program did not ask for.
 * Keeps the call's stack, unless a call that takes more was noted since the last look, and wakes
 * the thread that asks NVML. A function takes memory at its first launch, so more looks are due. */
void sc_unaccounted_note(const struct sc_call *call, enum sc_memory_kind kind)
{
    unsigned weight = weights[kind];
    if (!atomic_load_explicit(&is_on, memory_order_relaxed) || !weight || !sc_active())
        return;
    uint32_t origin = sc_made_here(call);
    sc_brief_lock_acquire(&found.lock);
    if (weight > found.weight) {
        found.weight = weight;
        found.origin = origin;
    }
    if (weight == 1)
        found.looks = AGAIN_MAX;
    sc_brief_lock_release(&found.lock);
    atomic_fetch_add(&sc_unaccounted_news, 1);
    sc_kernel_call(SYS_futex, &sc_unaccounted_news, FUTEX_WAKE_PRIVATE, 1);
}

/* ---- looking ---- */

/* Returns how much the driver should hold for the process on the device, by what the ledger (the
 * record of who has which memory) knows: memory, arrays, and what pools and graphs have reserved.
 */
static uint64_t known_of(const struct sc_statement *statement, unsigned place_number)
{
    const struct sc_statement_place *place = &statement->places[place_number];
    uint64_t bytes = place->backed_bytes + place->kinds[SC_LEDGER_ARRAY].bytes +
                     place->kinds[SC_LEDGER_PHYSICAL].bytes + place->graphs_reserved_bytes;
    for (unsigned i = 0; i < statement->pool_count; i++) {
        const struct sc_ledger_pool *pool = &statement->pools[i];
        if (pool->place == place_number && !pool->is_imported)
            bytes += pool->is_known ? pool->reserved_bytes : pool->used.bytes;
    }
    return bytes;
}

enum answer { NOT_SAID, CHANGING, SAID };

/* Compares the ledger with NVML at one moment: NVML has to give the same answer before and after
 * the ledger is read, else again. NOT_SAID also if NVML knows less than the ledger: it then means
 * another process. CHANGING: no moment was found. */
static enum answer compare_sums(unsigned place, struct sc_statement *statement,
                                uint64_t *driver_bytes, uint64_t *unaccounted)
{
    uint64_t behind = 0;
    for (unsigned i = 0; nvml.is_open && i < TRIES; i++) {
        if (!ask_nvml(&statement->places[place], driver_bytes))
            return NOT_SAID;
        sc_balance_draw(statement, !is_stopping());
        uint64_t known = known_of(statement, place);
        *unaccounted = sc_statement_less(*driver_bytes, known);
        if (ask_nvml(&statement->places[place], &behind) && *driver_bytes == behind)
            return behind >= known ? SAID : NOT_SAID;
    }
    return nvml.is_open ? CHANGING : NOT_SAID;
}

/* Returns the record of how much memory on this device has grown after the noted call
 * (found.origin); NULL: there is no room for one more. Needs the lock. */
static struct sc_statement_mention *step_of(unsigned place)
{
    for (unsigned i = 0; i < found.step_count; i++)
        if (found.steps[i].place == place && found.steps[i].origin == found.origin)
            return &found.steps[i];
    if (found.step_count == SC_STATEMENT_STEPS)
        return NULL;
    found.steps[found.step_count] = (struct sc_statement_mention){
        .what = SC_STATEMENT_STEP, .place = place, .origin = found.origin};
    return &found.steps[found.step_count++];
}

/* Stores what the driver holds on a device, and how much of it is not accounted for (`bytes`).
 * Growth from 1 MB on is attributed to the call that was noted. */
static void note_locked(unsigned place, uint64_t driver_bytes, uint64_t bytes)
    SC_REQUIRES(found.lock)
{
    struct sc_statement_unaccounted *row = &found.places[place];
    uint64_t grown = sc_statement_less(bytes, row->bytes);
    struct sc_statement_mention *step = grown >= STEP_BYTES ? step_of(place) : NULL;
    if (step) {
        step->bytes += grown;
        step->count++;
    }
    row->driver_bytes = driver_bytes;
    row->bytes = bytes;
    row->peak_bytes = bytes > row->peak_bytes ? bytes : row->peak_bytes;
}

/* Finds how much memory on a device is not accounted for. Growth counts only if it is still there a
 * moment later: a block that the driver has just given is entered into the ledger shortly after. If
 * no moment was found to compare at, the earlier result stays. */
static void measure_growth(unsigned place, struct sc_statement *statement)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t driver_bytes = 0, bytes = 0, then_bytes = 0;
    enum answer answer = compare_sums(place, statement, &driver_bytes, &bytes);
    if (answer == SAID && bytes >= found.places[place].bytes + STEP_BYTES) {
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
        answer = compare_sums(place, statement, &driver_bytes, &then_bytes);
        bytes = then_bytes < bytes ? then_bytes : bytes;
    }
    SC_LOCKED_BRIEFLY(&found.lock);
    found.places[place].is_asked = true;
    found.places[place].is_known =
        answer == SAID || ((answer == CHANGING || is_stopping()) && found.places[place].is_known);
    if (answer == SAID)
        note_locked(place, driver_bytes, bytes);
}

/* Ends a look. The noted call is forgotten, unless it was about a function, whose first launch may
 * still take memory: then some more looks are due. Returns whether they are. */
static bool end_check(bool has_looked)
{
    SC_LOCKED_BRIEFLY(&found.lock);
    found.looks -= found.looks > 0;
    if (has_looked && (found.looks == 0 || found.weight > 1))
        found.origin = found.weight = 0;
    return found.looks > 0;
}

/* Asks NVML about each device on which the process has memory, once it has any. Returns whether
 * another look is due soon. Without memory for the statement there is none. */
bool sc_unaccounted_look(void)
{
    struct sc_statement *statement = sc_pages_map(sizeof *statement);
    if (!statement)
        return false;
    bool has_looked = false;
    sc_balance_draw(statement, false);
    for (unsigned i = 0; i < SC_LEDGER_DEVICES && !is_stopping(); i++) {
        if (!statement->places[i].is_used)
            continue;
        if (!nvml.is_tried)
            open_nvml();
        measure_growth(i, statement);
        has_looked = true;
    }
    sc_pages_unmap(statement, sizeof *statement);
    return end_check(has_looked);
}

/* Copies the results of the last look into a statement. */
void sc_unaccounted_fill(struct sc_statement *statement)
{
    SC_LOCKED_BRIEFLY(&found.lock);
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++)
        statement->places[i].unaccounted = found.places[i];
    for (unsigned i = 0; i < found.step_count; i++)
        statement->mentions[statement->mention_count++] = found.steps[i];
}
