#include "cupti_hooks/subscription.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/mutex.h"
#include "common/text.h"
#include "common/trace.h"
#include "cupti_hooks/callbacks.h"
#include "cupti_hooks/current_call.h"
#include "cupti_hooks/libcupti.h"
#include "cupti_hooks/resources.h"
#include "cupti_hooks/timeline.h"

#include "common/poison.h"

enum { VERSION_MIN = 13 /* of CUDA 11.0 */, YIELD_MAX_NS = 1000 * 1000 * 1000 };

static struct {
    __typeof__(&cuptiGetVersion) get_version;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiSubscribe_v2) subscribe_v2; /* NULL before CUDA 12.8 */
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable;
    __typeof__(&cuptiGetCallbackName) name;
    __typeof__(&cuptiGetResultString) result_string;
} cupti;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct sc_cupti_request *request; /* the lock guards this and all below */
static CUpti_SubscriberHandle subscriber;
static bool subscribed SC_GUARDED_BY(lock);   /* also in a forked child that inherited it */
static bool follows_more SC_GUARDED_BY(lock); /* calls of `followed` are enabled */
static struct sc_cupti_status current = {.library = "", .detail = "", .passed_over = ""};
static struct sc_libcupti library;
static char detail[128];

static _Atomic unsigned tools_coming; /* tools whose cuptiSubscribe is under way */
static _Atomic bool tool_came;        /* a tool has come, and may still be there */
static __thread bool calling_cupti;   /* the library calls CUPTI on this thread */

/* Is the library calling CUPTI on this thread? Calls that CUPTI makes meanwhile are not the
 * program's. */
bool sc_cupti_is_asking(void)
{
    return calling_cupti;
}

/* Is the library subscribed, and has no tool come? Then CUPTI works for the library alone. */
bool sc_cupti_is_ours(void)
{
    return sc_current_call_may_be_known() && !atomic_load(&tool_came);
}

/* Returns the state as the report names it. */
const char *sc_cupti_state_string(enum sc_cupti_state state)
{
    static const char *const words[] = {"unused", "listening", "absent", "too-old",
                                        "held",   "yielded",   "failed"};
    return words[state];
}

/* Looks up the functions of libcupti that the subscription uses. False: one is missing. Old
 * versions lack subscribe_v2, which is not needed. */
static bool find_functions(void)
{
#define FIND(member, symbol_name)                                                                  \
    cupti.member = (__typeof__(cupti.member))request->symbol(library.handle, symbol_name)
    FIND(get_version, "cuptiGetVersion");
    FIND(subscribe, "cuptiSubscribe");
    FIND(subscribe_v2, "cuptiSubscribe_v2");
    FIND(unsubscribe, "cuptiUnsubscribe");
    FIND(enable, "cuptiEnableCallback");
    FIND(name, "cuptiGetCallbackName");
    FIND(result_string, "cuptiGetResultString");
#undef FIND
    return cupti.get_version && cupti.subscribe && cupti.unsubscribe && cupti.enable &&
           cupti.name && cupti.result_string;
}

/* Finds libcupti and its functions, and notes its path for the report. Returns LISTENING if the
 * library can subscribe. */
static enum sc_cupti_state load_cupti(void)
{
    sc_libcupti_find(&request->search, &library);
    current.library = library.path;
    current.passed_over = library.passed_over;
    if (!library.handle)
        return SC_CUPTI_ABSENT;
    if (!find_functions() || cupti.get_version(&current.version) != CUPTI_SUCCESS ||
        current.version < VERSION_MIN)
        return SC_CUPTI_TOO_OLD;
    return SC_CUPTI_LISTENING;
}

/* Keeps for the report why the subscription failed: the name of the tool that is subscribed
 * (`holder`), or CUPTI's error. */
static void note_failure(CUptiResult result, const char *holder)
{
    const char *text = NULL;
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        text = holder;
    else if (cupti.result_string(result, &text) != CUPTI_SUCCESS)
        text = NULL;
    struct sc_text words = sc_text_in(detail, sizeof detail);
    sc_text_put(&words, text ? text : "");
    current.detail = detail;
}

/* Subscribes to CUPTI, which allows one subscriber. Returns the new state; HELD: another tool is
 * subscribed, whose name a newer CUPTI tells. */
static enum sc_cupti_state subscribe_now(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1] = "";
    CUpti_SubscriberParams parameters = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
        .subscriberName = "libsafecopy",
        .oldSubscriberName = holder,
        .oldSubscriberSize = CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN,
    };
    CUptiResult result =
        cupti.subscribe_v2
            ? cupti.subscribe_v2(&subscriber, sc_callbacks_receive, NULL, &parameters)
            : cupti.subscribe(&subscriber, sc_callbacks_receive, NULL);
    subscribed = result == CUPTI_SUCCESS;
    if (subscribed)
        return SC_CUPTI_LISTENING;
    note_failure(result, holder);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return SC_CUPTI_HELD;
    return result == CUPTI_ERROR_NOT_COMPATIBLE ? SC_CUPTI_TOO_OLD : SC_CUPTI_FAILED;
}

/* Enables the callbacks of the functions for which `wants` is true. Not of a whole domain, since
 * each callback costs the program time. `note` (or NULL) gets the id of each. */
static void enable_named(CUpti_CallbackDomain domain, bool (*wants)(const char *name),
                         void (*note)(uint32_t id))
{
    for (uint32_t id = 1; id < SC_CBID_MAX; id++) {
        const char *name = NULL;
        if (cupti.name(domain, id, &name) != CUPTI_SUCCESS || !name || !wants(name))
            continue;
        if (note)
            note(id);
        cupti.enable(1, subscriber, domain, id);
    }
}

/* Enables one callback, for sc_resources_each. */
static void enable_callback(CUpti_CallbackDomain domain, uint32_t id)
{
    cupti.enable(1, subscriber, domain, id);
}

/* Loads CUPTI, subscribes, and enables the callbacks and records that were requested. If a tool is
 * about to subscribe, the library does not. Only at the end do callbacks take effect, when all is
 * set. */
static void start_locked(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    SC_TRACE("cupti-start");
    current.state = atomic_load(&tools_coming) ? SC_CUPTI_HELD : load_cupti();
    SC_ASSERT(request != NULL && !subscribed);
    if (current.state == SC_CUPTI_LISTENING)
        current.state = subscribe_now();
    if (current.state != SC_CUPTI_LISTENING)
        return;
    sc_callbacks_start(request->missed);
    sc_resources_start(request->told);
    enable_named(CUPTI_CB_DOMAIN_DRIVER_API, sc_callbacks_is_audited, sc_callbacks_audit);
    enable_named(CUPTI_CB_DOMAIN_RUNTIME_API, sc_callbacks_is_named, NULL);
    sc_resources_each(enable_callback);
    if (request->records)
        sc_timeline_start(library.handle, request->symbol, request->records);
    atomic_store(&sc_current_call_is_traced, true);
}

/* Subscribes, in the first call. Driver calls that CUPTI makes meanwhile count as the library's
 * (SC_CARRY). */
void sc_cupti_start(const struct sc_cupti_request *what)
{
    SC_LOCKED(&lock);
    calling_cupti = true;
    if (current.state == SC_CUPTI_UNUSED) {
        SC_CARRY();
        request = what;
        start_locked();
    }
    calling_cupti = false;
}

/* Records why CUPTI cannot be used, unless it is in use already. */
void sc_cupti_fail(const char *why)
{
    SC_LOCKED(&lock);
    if (current.state == SC_CUPTI_UNUSED) {
        current.state = SC_CUPTI_FAILED;
        current.detail = why;
    }
}

/* Makes callbacks do nothing, and then ends the subscription, if there is one. A forked child may
 * have inherited one. */
static void unsubscribe_locked(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    SC_TRACE("cupti-leave");
    atomic_store(&sc_current_call_is_traced, false);
    SC_ASSERT(!subscribed || cupti.unsubscribe != NULL);
    if (!subscribed)
        return;
    subscribed = false;
    calling_cupti = true;
    cupti.unsubscribe(subscriber);
    calling_cupti = false;
}

/* Takes the lock, unless that takes more than a second. A tool that subscribes in a constructor
 * holds the loader's lock, for which the owner of this lock may wait. */
static bool lock_in_time(void) SC_TRY_ACQUIRES(true, lock)
{
    struct timespec until = sc_deadline_in(YIELD_MAX_NS);
    return sc_mutex_lock_until(&lock, &until) == 0;
}

/* Called before a tool's cuptiSubscribe, of which CUPTI allows one: ends the library's subscription
 * and records. Not if the library itself subscribes. If the lock is not had in time, the library
 * stays subscribed, and the tool's call may fail. Returns whether the library has left. */
bool sc_cupti_yield(void)
{
    if (calling_cupti)
        return false;
    atomic_store(&tool_came, true);
    atomic_fetch_add(&tools_coming, 1);
    if (!lock_in_time())
        return false;
    bool leaves = current.state == SC_CUPTI_LISTENING && sc_current_call_may_be_known();
    unsubscribe_locked();
    sc_cupti_yield_records();
    if (leaves)
        current.state = SC_CUPTI_YIELDED;
    sc_mutex_unlock(&lock);
    return leaves;
}

/* Called before a tool asks for activity records, of which CUPTI has one client: ends the
 * library's; the subscription stays. Not if the library itself asks. */
bool sc_cupti_yield_records(void)
{
    if (calling_cupti)
        return false;
    atomic_store(&tool_came, true);
    calling_cupti = true;
    SC_CARRY();
    bool leaves = sc_timeline_yield();
    calling_cupti = false;
    return leaves;
}

/* Called when a tool's cuptiSubscribe has returned: the library may subscribe now, if it has not
 * begun to before; CUPTI refuses if the tool is still there. Not for the library's own call. */
void sc_cupti_tool_came(void)
{
    if (!calling_cupti)
        atomic_fetch_sub(&tools_coming, 1);
}

/* Makes callbacks do nothing and, if asked to, unsubscribes. Does not wait for the lock: at the end
 * of the process its owner may be stopped for good, and the subscription then simply stays. */
void sc_cupti_stop(bool unsubscribe)
{
    atomic_store(&sc_current_call_is_traced, false);
    if (!unsubscribe || sc_mutex_trylock(&lock) != 0)
        return;
    unsubscribe_locked();
    sc_mutex_unlock(&lock);
}

/* Resets the state in a forked child, where CUDA does not work. The lock is made anew, as another
 * thread of the parent may have held it. `subscribed` stays: CUPTI still has the subscription. */
void sc_cupti_child(void)
{
    atomic_store(&sc_current_call_is_traced, false);
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    calling_cupti = false;
    atomic_store(&tools_coming, 0);
    sc_timeline_child();
    current.state = SC_CUPTI_UNUSED;
}

/* Called at the first missed call: enables callbacks for further functions (`followed`), whose
 * calls must then be known, too. Once. Does not wait for the lock, since a callback of CUPTI's
 * calls this; a later one tries again. */
void sc_cupti_follow_more(void)
{
    if (sc_mutex_trylock(&lock) != 0)
        return;
    if (subscribed && !follows_more) {
        follows_more = true;
        calling_cupti = true;
        for (size_t i = 0; i < request->followed_count; i++)
            cupti.enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, request->followed[i]);
        calling_cupti = false;
    }
    sc_mutex_unlock(&lock);
}

/* Copies the status for the report. If another thread has the lock, it is read without: the process
 * may be ending in a signal handler, which must not wait. It may then be half changed. */
void sc_cupti_get_status(struct sc_cupti_status *status)
{
    bool locked = sc_mutex_trylock(&lock) == 0;
    *status = current;
    if (locked)
        sc_mutex_unlock(&lock);
}

/* Stores how many audited driver calls wrappers have made, and how many came past them. */
void sc_cupti_counts(uint64_t *wrapped, uint64_t *missed)
{
    sc_callbacks_counts(wrapped, missed);
}
