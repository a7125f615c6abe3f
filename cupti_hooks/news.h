/* What CUPTI tells besides calls: streams, contexts and graphs that come and go, waits that end.
 *
 * It is told on the thread that caused it, by whatever way, within the call that did. Of waits only
 * those for named streams and for contexts are told. The driver may hold locks of its own
 * meanwhile: whoever is told must not call it, nor take a lock that is held over calls of it.
 */
#ifndef SC_CUPTI_HOOKS_NEWS_H
#define SC_CUPTI_HOOKS_NEWS_H

#include <stdint.h>

enum sc_news_kind {
    SC_NEWS_STREAM_NAMED,  /* the handle names a stream that is new */
    SC_NEWS_STREAM_ENDS,   /* its work goes on */
    SC_NEWS_CONTEXT_ENDS,  /* its work is done, but for a green one; told of followed calls, too */
    SC_NEWS_GRAPH_ENDS,    /* or an exec, or a child graph; told of all calls */
    SC_NEWS_STREAM_WAITED, /* all its work is done, or was when it was asked for */
    SC_NEWS_CONTEXT_WAITED,
};

struct sc_news {
    enum sc_news_kind kind;
    uintptr_t handle;
};

typedef void sc_news_told(const struct sc_news *news);

#endif
