/* Acts on what CUPTI tells of resources and waits (cupti_hooks/news.h), if neither wrappers nor
 * replays know it: handles that mean something else from now on, contexts whose work is done,
 * memory that no graph names any more, and waits that passed by.
 *
 * Called from within the driver. So no driver call is made, no lock is taken that is held over
 * driver calls, and no stack is unwound. What needs more is left to whoever meets the handle next.
 * errno is kept. Not for a signal handler. */
#ifndef SC_INTERPOSE_MISSED_RESOURCE_NEWS_H
#define SC_INTERPOSE_MISSED_RESOURCE_NEWS_H

struct sc_news;

void sc_resource_news(const struct sc_news *news);

#endif
