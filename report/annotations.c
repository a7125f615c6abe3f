#include "report/annotations.h"

#include "common/checks.h"
#include "common/hazard.h"
#include "common/mutex.h"
#include "common/pool.h"
#include "common/text.h"
#include "report/file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/poison.h"

struct record {
    char label[SC_LABEL_SIZE];
    unsigned ignore_depth;
    unsigned reason; /* an index into `reasons`; valid while ignore_depth > 0 */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sc_pool records SC_GUARDED_BY(mutex);            /* guarded by the mutex */
static char process_label[SC_LABEL_SIZE] SC_GUARDED_BY(mutex); /* as well */

/* A list of distinct words, numbered from 1 on. A word, once added, stays. */
struct words {
    char (*texts)[SC_LABEL_SIZE]; /* by number; each is written once, under the mutex */
    _Atomic unsigned count;       /* of numbers in use, the unused 0 included */
    unsigned max;
    const char *further; /* the last word: it stands for all that find the list full */
};

static char reason_texts[SC_REASONS_MAX][SC_LABEL_SIZE], label_texts[SC_LABELS_MAX][SC_LABEL_SIZE];
static struct words reasons = {reason_texts, 1, SC_REASONS_MAX, "further reasons"};
static struct words labels = {label_texts, 1, SC_LABELS_MAX, "further labels"};

__thread uint32_t sc_annotations_own_label;
_Atomic uint32_t sc_annotations_process_label;

static _Atomic bool is_used; /* anything was ever said */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
static bool has_key; /* without a key no thread gets a record, since none would be given back */
static __thread uint32_t own_record; /* of the calling thread; 0: none yet */

/* Takes this module's mutex with asynchronous signals blocked. A signal handler of the program's
 * may free memory that a copy uses, which makes a hazard and takes the mutex, too: it would wait
 * for its own thread. */
static void lock_annotations(sigset_t *signals) SC_ACQUIRES(mutex)
{
    sc_file_block_signals(signals);
    sc_mutex_lock(&mutex);
}

/* Releases the mutex and sets the signal mask that lock_annotations has stored. */
static void unlock_annotations(const sigset_t *signals) SC_RELEASES(mutex)
{
    sc_mutex_unlock(&mutex);
    sc_file_restore_signals(signals);
}

/* Copies the program's text into a label's room, cut between UTF-8 characters. NULL counts as "".
 */
static void copy_cut(char *into, const char *text)
{
    text = text ? text : "";
    memset(into, 0, SC_LABEL_SIZE);
    memcpy(into, text, sc_text_fitting(text, strnlen(text, SC_LABEL_SIZE), SC_LABEL_SIZE));
}

/* ---- records of threads ---- */

/* Gives the thread's record back when the thread ends, so that records of threads that are gone do
 * not pile up. pthread calls this, as the destructor of the key at_thread_end. */
static void give_own_record(void *unused)
{
    (void)unused;
    sigset_t signals;
    lock_annotations(&signals);
    if (own_record)
        sc_pool_release(&records, own_record);
    own_record = 0;
    unlock_annotations(&signals);
}

/* Makes the pool of records and the key by which a thread's record is given back at its end. Runs
 * once, before the first record. */
static void set_up_records(void)
{
    sc_pool_init(&records, sizeof(struct record));
    has_key = pthread_key_create(&at_thread_end, give_own_record) == 0;
}

/* Returns the record of the calling thread, made if there is none. Returns NULL without memory, or
 * without a key, since then nothing would give the record back. The key gets a value only so that
 * pthread calls its destructor for this thread. */
static struct record *own_record_or_new(void)
{
    sigset_t signals;
    pthread_once(&once, set_up_records);
    if (!has_key)
        return NULL;
    lock_annotations(&signals);
    if (!own_record)
        own_record = sc_pool_take(&records);
    unlock_annotations(&signals);
    pthread_setspecific(at_thread_end, &records);
    atomic_store(&is_used, true);
    return own_record ? sc_pool_at(&records, own_record) : NULL;
}

/* ---- words ---- */

/* Returns the number of the word (a label, or a reason to ignore hazards), which is added if it is
 * new. A full list returns the number of its last word, "further labels" or "further reasons". */
static unsigned number_of_word_locked(struct words *words, const char *word) SC_REQUIRES(mutex)
{
    SC_ASSERT_HELD(&mutex);
    unsigned count = atomic_load_explicit(&words->count, memory_order_relaxed);
    for (unsigned i = 1; i < count; i++) {
        if (strcmp(words->texts[i], word) == 0)
            return i;
    }
    if (count == words->max)
        return words->max - 1;
    SC_ASSERT(count > 0 && count < words->max);
    copy_cut(words->texts[count], count < words->max - 1 ? word : words->further);
    atomic_store_explicit(&words->count, count + 1, memory_order_release);
    return count;
}

/* Returns the text of the word with that number; NULL: no word has it. Without the lock: a text
 * never changes, and the count is raised after the text is written. */
static const char *word_of(struct words *words, unsigned number)
{
    return number < atomic_load_explicit(&words->count, memory_order_acquire) ? words->texts[number]
                                                                              : NULL;
}

/* ---- labels ---- */

/* Returns the label's number in the list of labels; 0 for "", which takes the label away. */
static uint32_t number_of_label_locked(const char *label) SC_REQUIRES(mutex)
{
    return label[0] != '\0' ? number_of_word_locked(&labels, label) : 0;
}

/* Returns the label's text for the report; NULL for 0, which is no label. */
const char *sc_annotations_label_text(uint32_t number)
{
    return number ? word_of(&labels, number) : NULL;
}

/* Sets the label of the process, for threads that have none of their own. The program's text may
 * lie on a page that is protected for a copy in flight. Reading it then faults and may wait, so it
 * is copied before the lock is taken. */
void sc_annotations_label(const char *label)
{
    char copy[SC_LABEL_SIZE];
    sigset_t signals;
    copy_cut(copy, label);
    lock_annotations(&signals);
    memcpy(process_label, copy, sizeof copy);
    atomic_store(&sc_annotations_process_label, number_of_label_locked(copy));
    atomic_store(&is_used, true);
    unlock_annotations(&signals);
}

/* Labels the process by the environment when the library is loaded: a test sets SAFECOPY_LABEL for
 * the processes that it starts. */
void sc_annotations_start(void)
{
    const char *label = getenv("SAFECOPY_LABEL");
    if (label)
        sc_annotations_label(label);
}

/* Sets the label that hazards of the calling thread get instead of the process's. The program's
 * text may lie on a protected page, where reading faults, so it is copied before the lock is
 * taken. */
void sc_annotations_label_thread(const char *label)
{
    char copy[SC_LABEL_SIZE];
    sigset_t signals;
    struct record *record = own_record_or_new();
    copy_cut(copy, label);
    if (!record)
        return;
    lock_annotations(&signals);
    memcpy(record->label, copy, sizeof copy);
    sc_annotations_own_label = number_of_label_locked(copy);
    unlock_annotations(&signals);
}

/* ---- ignoring ---- */

/* Makes hazards of the calling thread be ignored until the matching end; pairs may be nested, and
 * then the outermost reason counts. The program's text is copied before the lock is taken, since
 * reading it may fault on a protected page. */
void sc_annotations_ignore_begin(const char *reason)
{
    char copy[SC_LABEL_SIZE];
    sigset_t signals;
    struct record *record = own_record_or_new();
    copy_cut(copy, reason);
    if (!record)
        return;
    lock_annotations(&signals);
    SC_ASSERT(own_record && own_record < sc_pool_first_unused(&records));
    if (record->ignore_depth++ == 0)
        record->reason = number_of_word_locked(&reasons, copy);
    unlock_annotations(&signals);
}

/* Ends the innermost pair. An end without a begin does nothing. */
void sc_annotations_ignore_end(void)
{
    struct record *record = own_record ? sc_pool_at(&records, own_record) : NULL;
    if (record && record->ignore_depth > 0)
        record->ignore_depth--;
}

/* Returns the text of a reason that a hazard has by its number, for the report; NULL past the
 * last. */
const char *sc_annotations_reason(unsigned index)
{
    return word_of(&reasons, index);
}

/* ---- hazards ---- */

/* Adds to a hazard what the program has said of its own calls: the label (the thread's own, or
 * else the process's) and the reason to ignore it. The lock is not taken while nothing was ever
 * said. */
void sc_annotations_note(struct sc_hazard *hazard)
{
    sigset_t signals;
    if (!atomic_load(&is_used))
        return;
    lock_annotations(&signals);
    const struct record *record = own_record ? sc_pool_at(&records, own_record) : NULL;
    bool own_label = record && record->label[0] != '\0';
    memcpy(hazard->label, own_label ? record->label : process_label, SC_LABEL_SIZE);
    hazard->ignored = record && record->ignore_depth > 0 ? record->reason : 0;
    unlock_annotations(&signals);
}

/* Makes the mutex anew in a forked child: another thread of the parent may have held it at the
 * fork. */
void sc_annotations_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
