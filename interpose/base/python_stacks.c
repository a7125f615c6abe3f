#include "interpose/base/python_stacks.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/checks.h"
#include "common/mutex.h"
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

/* Returns the interpreter's version, as Py_Version has it from 3.11 on. Before that, 3.10 is
 * recognised by a function that 3.9 lacks. */
static uint32_t version_of(const struct dl_phdr_info *object)
{
    size_t size;
    const unsigned long *version = sc_exported_in(object, "Py_Version", &size);
    if (version)
        return (uint32_t)*version;
    return sc_exported_in(object, "PyIter_Send", &size) ? 0x30A0000 : 0x3090000;
}

/* Is the object a CPython interpreter whose frames can be read (3.9 to 3.15)? Notes the code of its
 * evaluation loop, the object's addresses, and the offsets of its members. */
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

/* A visitor of loaded objects: the search ends (1) at one with an interpreter. The interpreter that
 * was found last keeps its record, since stacks may be read by it at present. One that cannot be
 * read, or for which no record is left, counts as none. */
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

/* Searches for the interpreter. If another thread is searching, leaves it to that one, which then
 * searches again (is_search_due). To wait for it could be a deadlock: it may wait for the loader's
 * lock, which this thread may hold. */
static void find_interpreter(void)
{
    atomic_store(&is_search_due, true);
    while (atomic_load(&is_search_due) && sc_mutex_trylock(&search_lock) == 0) {
        atomic_store(&is_search_due, false);
        find_locked();
        sc_mutex_unlock(&search_lock);
    }
}

/* Turns Python frames in stacks on, at most `frames_max` in each, when CUDA is first used. */
void sc_python_stacks_start(unsigned frames_max)
{
    frames_wanted = frames_max;
    find_interpreter();
}

/* Called with the loader's counts whenever a stack is unwound. Searches for a Python interpreter if
 * objects were closed since the last call, or if objects were loaded and none is known.
 * `frames_wanted` is 0 with python=0. */
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

/* Called before a dlclose that may close the interpreter: from now on no stack is completed by
 * calling its code. A search that runs at this moment sees `closings` and publishes nothing. */
void sc_python_stacks_note_closing(void)
{
    atomic_fetch_add(&closings, 1);
    atomic_store(&sc_python_stacks_interpreter, NULL);
}

/* Called after such a dlclose. The interpreter was perhaps not closed: it is searched for again. */
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

/* Merges the native frames of the stack insertion->id with the thread's Python frames, and stores
 * the id of the merged stack there. The id stays if the thread runs no Python frames, or if there
 * is no memory for another stack. The argument is a struct insertion, as it may run on a spare
 * stack. */
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

/* Returns the id of the completed stack that is remembered for this native stack with these Python
 * frames (`tag`); 0: none. Two threads may write the memo at once: if its halves do not belong
 * together, the tag does not come out. */
static uint32_t recall_memo(const struct memo *memo, uint64_t tag)
{
    uint32_t id = atomic_load_explicit(&memo->id, memory_order_relaxed);
    return (atomic_load_explicit(&memo->tag_and_id, memory_order_relaxed) ^ id) == tag ? id : 0;
}

/* Remembers the id of a completed stack for this native stack with these Python frames (`tag`), in
 * two halves that recall_memo compares. */
static void store_memo(struct memo *memo, uint64_t tag, uint32_t id)
{
    atomic_store_explicit(&memo->id, id, memory_order_relaxed);
    atomic_store_explicit(&memo->tag_and_id, tag ^ id, memory_order_relaxed);
}

/* May the interpreter's memory be read by plain loads, without a check for each? Yes, once a frame
 * has been read that had a code object, so that the offsets are right. Not while the interpreter
 * ends, since it frees the threads' states then. */
static bool may_read_directly(const struct sc_python_layout *layout)
{
    return atomic_load_explicit(&layout->code_type, memory_order_acquire) != 0 &&
           (!layout->finalizing || *(const volatile uintptr_t *)layout->finalizing == 0);
}

/* Fills in the interpreter and the thread's Python state. False, and the stack stays as it is:
 * there is no interpreter or no stack; this thread runs no Python; or too many frames could not be
 * read, so the offsets must be wrong. */
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

/* Adds the Python frames of the calling thread to its native stack `id`; returns the id of the
 * whole. The same frames usually recur, so the result is remembered under a hash of them, if they
 * may be read by plain loads. The merging needs much stack, so it may run on a spare one. */
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

/* Inserts the calling thread's Python frames into its stack `id`, in the handler of a fault: memory
 * is read only in a way that cannot fault, so the hash that sc_python_stacks_insert makes by plain
 * loads is left out. The handler's stack has room enough. */
uint32_t sc_python_stacks_insert_carefully(uint32_t id)
{
    struct insertion insertion = {.id = id};
    if (find_python_frames(&insertion))
        insert_frames(&insertion);
    return insertion.id;
}
