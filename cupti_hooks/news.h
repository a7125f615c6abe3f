/* What CUPTI tells besides calls: streams, contexts and graphs that come and go, waits that end.
 *
 * News is told on the thread that caused it, within the call that caused it. CUPTI tells of waits
 * for named streams and for contexts only. The driver may hold its own locks meanwhile: the
 * receiver must not call the driver, nor take a lock that is held over driver calls.
 */
#ifndef SC_CUPTI_HOOKS_NEWS_H
#define SC_CUPTI_HOOKS_NEWS_H

#include <stddef.h>
#include <stdint.h>

enum sc_news_kind {
    SC_NEWS_STREAM_NAMED,  /* the handle names a stream that is new */
    SC_NEWS_STREAM_ENDS,   /* its work goes on */
    SC_NEWS_CONTEXT_ENDS,  /* its work is done, unless it is green; told for followed calls, too */
    SC_NEWS_GRAPH_ENDS,    /* a graph, an exec or a child graph; told for all calls */
    SC_NEWS_STREAM_WAITED, /* all its work is done, or was when the wait began */
    SC_NEWS_CONTEXT_WAITED,
    SC_NEWS_MODULE_LOADED, /* the handle is the context's; told for all calls */
};

struct sc_news {
    enum sc_news_kind kind;
    uintptr_t handle;
    const void *image; /* of a module, as the device has it: good until the receiver returns */
    size_t image_bytes;
};

typedef void sc_news_told(const struct sc_news *news);

#endif
