/* News: what CUPTI reports besides calls, which is that streams, contexts and graphs begin and end,
 * and that waits end.
 *
 * The receiver is called on the thread that caused the news, within the call that caused it. CUPTI
 * reports only waits for named streams and for contexts. The driver may hold locks of its own
 * meanwhile: the receiver must not call the driver, nor take a lock that is held over driver calls.
 */
#ifndef SC_CUPTI_HOOKS_NEWS_H
#define SC_CUPTI_HOOKS_NEWS_H

#include <stddef.h>
#include <stdint.h>

enum sc_news_kind {
    SC_NEWS_STREAM_NAMED, /* the handle now names a new stream */
    SC_NEWS_STREAM_ENDS,  /* the stream is destroyed; its work goes on */
    /* The context ends; its work is done, unless it is a green context. Reported for followed
     * calls, too (subscription.h). */
    SC_NEWS_CONTEXT_ENDS,
    SC_NEWS_GRAPH_ENDS,    /* a graph, an exec or a child graph ends; reported for all calls */
    SC_NEWS_STREAM_WAITED, /* a wait for the stream has returned: all work that it had when the wait
                              began is done */
    SC_NEWS_CONTEXT_WAITED,
    /* A module was loaded into the context of this handle; reported for all calls. */
    SC_NEWS_MODULE_LOADED,
};

struct sc_news {
    enum sc_news_kind kind;
    uintptr_t handle;
    /* The module's code as the device has it; valid until the receiver returns. */
    const void *image;
    size_t image_bytes;
};

typedef void sc_news_receiver(const struct sc_news *news);

#endif
