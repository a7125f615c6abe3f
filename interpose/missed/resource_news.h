/* Acts on CUPTI's reports about resources and waits (cupti_hooks/news.h) that neither wrappers nor
 * replays have seen: handles that are used for something else from now on, contexts whose work is
 * done, memory that no graph names any more, and waits that passed the wrappers by.
 *
 * Called from within the driver. So no driver call is made, no lock is taken that is held over
 * driver calls, and no stack is unwound. What needs more is done by the thread that uses the handle
 * next. errno is kept. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_MISSED_RESOURCE_NEWS_H
#define SC_INTERPOSE_MISSED_RESOURCE_NEWS_H

struct sc_news;

/* Acts on one report. Does nothing while the library is inactive. */
void sc_resource_news(const struct sc_news *news);

#endif
