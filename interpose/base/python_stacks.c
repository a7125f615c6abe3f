#include "interpose/base/python_stacks.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/checks.h"
#include "common/objects.h"
#include "interpose/base/exported.h"
#include "interpose/base/object_range.h"
#include "interpose/base/python_layout.h"
#include "interpose/base/python_merge.h"
#include "interpose/base/python_walk.h"
#include "interpose/base/spare_stack.h"
#include "track/stacks.h"

#include "common/poison.h"

struct sc_python_interpreter {
    struct sc_python_layout layout;
    void *(*thread_state)(void);         /* NULL: the thread has none */
    struct sc_python_range loop, object; /* code of the evaluation loop; the object that it is in */
};

enum {
    INTERPRETERS_MAX = 8, /* interpreters that may be loaded, one after the other */
    FAILURES_MAX = 16,    /* unreadable frames after which the layout counts as wrong */
    MEMOS = 1 << 12,
};

_Atomic(struct sc_python_interpreter *) sc_python_stacks_interpreter;

static pthread_mutex_t search_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_python_interpreter interpreters[INTERPRETERS_MAX]; /* written once each */
static unsigned interpreter_count;
static struct sc_python_interpreter *found_last; /* these three are guarded by search_lock */
static unsigned frames_wanted;
static _Atomic uint64_t loaded_then, closed_then; /* counts of objects at the last call */
static _Atomic bool is_search_due;
static _Atomic unsigned closings; /* calls under way that may close the interpreter */

/* ---- the interpreter ---- */

/* Returns the interpreter's version. Py_Version exists from 3.11 on; before that, 3.10 is
 * recognised by a function that 3.9 lacks. */
static uint32_t version_of(const struct dl_phdr_info *object)
{
    size_t size;
    const unsigned long *version = sc_exported_in(object, "Py_Version", &size);
    if (version)
        return (uint32_t)*version;
    return sc_exported_in(object, "PyIter_Send", &size) ? 0x30A0000 : 0x3090000;
}

/* Is the object a Python interpreter that can be read? Finds its loop, and where it keeps its
 * frames. */
static bool describe_object(struct sc_python_interpreter *found, const struct dl_phdr_info *object)
{
    size_t size;
    uintptr_t runtime = (uintptr_t)sc_exported_in(object, "_PyRuntime", &size);
    uintptr_t loop = (uintptr_t)sc_exported_in(object, "_PyEval_EvalFrameDefault", &size);
    found->loop = (struct sc_python_range){loop, loop + size};
    const struct sc_object_range range = sc_object_range_in(object);
    found->object = (struct sc_python_range){range.start, range.end};
    return sc_exported_in(object, "PyFrame_GetBack", &size) && /* since 3.9 */
           sc_python_layout_make(&found->layout, version_of(object), runtime);
}

struct search {
    struct sc_python_interpreter *slot;  /* where a new interpreter is described; NULL: no room */
    struct sc_python_interpreter *found; /* result; NULL: there is none, or it is not known */
};

/* A visitor of objects: the search ends at one with an interpreter. The interpreter that was found
 * last keeps its record. */
static int find_in_object(struct dl_phdr_info *object, size_t size, void *argument)
{
    struct search *search = argument;
    void *getter = sc_exported_in(object, "PyGILState_GetThisThreadState", &size);
    if (!getter)
        return 0;
    if (found_last && (void *)found_last->thread_state == getter) {
        search->found = found_last;
    } else if (search->slot && describe_object(search->slot, object)) {
        search->slot->thread_state = (void *(*)(void))getter;
        search->found = search->slot;
    }
    return 1;
}

/* Publishes the interpreter that is loaded, if any. A thread that closes an object counts in
 * `closings` first and then withdraws what this function sets. So one of the two sees the other. */
static void find_locked(void) SC_REQUIRES(search_lock)
{
    SC_ASSERT_HELD(&search_lock);
    struct search search = {NULL, NULL};
    if (interpreter_count < INTERPRETERS_MAX)
        search.slot = &interpreters[interpreter_count];
    sc_objects_visit(find_in_object, &search);
    if (search.found && search.found == search.slot)
        interpreter_count++;
    found_last = search.found;
    atomic_store(&sc_python_stacks_interpreter, search.found);
    if (atomic_load(&closings) > 0)
        atomic_store(&sc_python_stacks_interpreter, NULL);
}

/* Searches for the interpreter, or leaves that to the thread that holds the lock, which then
 * searches again. Waiting for that thread could be a deadlock: it may wait for the loader's lock,
 * which this thread may hold. */
static void find_interpreter(void)
{
    atomic_store(&is_search_due, true);
    while (atomic_load(&is_search_due) && pthread_mutex_trylock(&search_lock) == 0) {
        atomic_store(&is_search_due, false);
        find_locked();
        pthread_mutex_unlock(&search_lock);
    }
}

void sc_python_stacks_start(unsigned frames_max)
{
    frames_wanted = frames_max;
    find_interpreter();
}

/* Searches for a Python interpreter among the objects that were loaded since the last call. If one
 * is loaded, searches again only when objects were closed. */
void sc_python_stacks_note_objects(uint64_t loaded, uint64_t closed)
{
    if (!frames_wanted)
        return;
    bool news = atomic_exchange_explicit(&closed_then, closed, memory_order_relaxed) != closed;
    if (atomic_exchange_explicit(&loaded_then, loaded, memory_order_relaxed) != loaded)
        news |= !atomic_load_explicit(&sc_python_stacks_interpreter, memory_order_relaxed);
    if (news)
        find_interpreter();
}

void sc_python_stacks_note_closing(void)
{
    atomic_fetch_add(&closings, 1);
    atomic_store(&sc_python_stacks_interpreter, NULL);
}

void sc_python_stacks_note_closed(void)
{
    atomic_fetch_sub(&closings, 1);
    if (frames_wanted)
        find_interpreter();
}

/* ---- stacks ---- */

struct insertion {
    struct sc_python_interpreter *interpreter;
    uintptr_t state;
    uint32_t id; /* of the stack of native frames; result: of the merged one */
};

/* Merges the native frames of insertion->id with the thread's Python frames, and stores the id of
 * the merged stack there. */
static __attribute__((noinline)) void insert_frames(void *argument)
{
    struct insertion *insertion = argument;
    struct sc_python_interpreter *interpreter = insertion->interpreter;
    void *words[2 * SC_STACK_DEPTH_MAX], *frames[SC_STACK_DEPTH_MAX];
    struct sc_python_merge merge = {.loop = interpreter->loop, .object = interpreter->object};
    merge.words = words;
    merge.word_count =
        sc_python_walk_words(&interpreter->layout, insertion->state, words, frames_wanted);
    if (merge.word_count == 0)
        return;
    merge.native_count = sc_stacks_get(insertion->id, &merge.natives);
    uint32_t id = sc_stacks_put(frames, sc_python_merge_stacks(&merge, frames));
    insertion->id = id ? id : insertion->id;
}

/* ---- stacks that were completed before ---- */

/* A stack that was completed before. `tag` stands for the native stack and its Python frames. It is
 * kept mixed with the id: halves that two threads wrote at once do not make a valid memo. */
static struct memo {
    _Atomic uint64_t tag_and_id;
    _Atomic uint32_t id;
} memos[MEMOS];

static uint32_t recall_memo(const struct memo *memo, uint64_t tag)
{
    uint32_t id = atomic_load_explicit(&memo->id, memory_order_relaxed);
    return (atomic_load_explicit(&memo->tag_and_id, memory_order_relaxed) ^ id) == tag ? id : 0;
}

static void store_memo(struct memo *memo, uint64_t tag, uint32_t id)
{
    atomic_store_explicit(&memo->id, id, memory_order_relaxed);
    atomic_store_explicit(&memo->tag_and_id, tag ^ id, memory_order_relaxed);
}

/* May the frames be read without care? The layout has proved right, and the thread's state is not
 * about to be freed. */
static bool may_read_directly(const struct sc_python_layout *layout)
{
    return atomic_load_explicit(&layout->code_type, memory_order_acquire) != 0 &&
           (!layout->finalizing || *(const volatile uintptr_t *)layout->finalizing == 0);
}

/* Fills in the interpreter and the thread's state. False: the thread has no Python frames, or they
 * cannot be read. */
static bool find_python_frames(struct insertion *insertion)
{
    struct sc_python_interpreter *interpreter =
        atomic_load_explicit(&sc_python_stacks_interpreter, memory_order_acquire);
    if (!interpreter || !insertion->id)
        return false;
    const struct sc_python_layout *layout = &interpreter->layout;
    if (atomic_load_explicit(&layout->code_type, memory_order_relaxed) == 0 &&
        atomic_load_explicit(&layout->failures, memory_order_relaxed) > FAILURES_MAX)
        return false;
    insertion->interpreter = interpreter;
    insertion->state = (uintptr_t)interpreter->thread_state();
    return insertion->state != 0;
}

/* Adds the Python frames of the calling thread to the stack; returns the id of the whole. The same
 * frames usually recur, so the result is stored under a hash of them. */
__attribute__((noinline)) uint32_t sc_python_stacks_insert(uint32_t id)
{
    struct insertion insertion = {.id = id};
    if (!find_python_frames(&insertion))
        return id;
    if (!may_read_directly(&insertion.interpreter->layout)) {
        sc_spare_stack_make_room(insert_frames, &insertion);
        return insertion.id;
    }
    uint64_t key =
        sc_python_walk_key(&insertion.interpreter->layout, insertion.state, frames_wanted);
    uint64_t tag = (key ^ id) * 0x9E3779B97F4A7C15u;
    struct memo *memo = &memos[tag >> 52];
    uint32_t known = recall_memo(memo, tag);
    if (known)
        return known;
    sc_spare_stack_make_room(insert_frames, &insertion);
    store_memo(memo, tag, insertion.id);
    return insertion.id;
}

/* Inserts the calling thread's Python frames into its stack `id`, in a signal handler: nothing is
 * stored for the next time, and no other stack is used. */
uint32_t sc_python_stacks_insert_carefully(uint32_t id)
{
    struct insertion insertion = {.id = id};
    if (find_python_frames(&insertion))
        insert_frames(&insertion);
    return insertion.id;
}
