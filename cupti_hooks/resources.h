/* Makes news (news.h) from CUPTI's callbacks for resources and synchronisation.
 *
 * Most calls that a wrapper makes, or that are followed (subscription.h), are recorded there, and
 * are no news. No lock is taken. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_CUPTI_HOOKS_RESOURCES_H
#define SC_CUPTI_HOOKS_RESOURCES_H

#include <stdint.h>

#include <cupti.h>

#include "cupti_hooks/news.h"

/* Sets the function that is told of news: streams, contexts, graphs and modules that begin or end,
 * and waits that end. Pre: no callback has run yet. */
void sc_resources_start(sc_news_receiver *receive);

/* Handles a callback of CUPTI's resource or synchronise domain: tells the receiver the news in it,
 * if there are any that nobody else notes. */
void sc_resources_receive(CUpti_CallbackDomain domain, uint32_t id, const void *about);

/* Calls `enable` for each callback that must be enabled for news, when the library subscribes. */
void sc_resources_each(void (*enable)(CUpti_CallbackDomain domain, uint32_t id));

#endif
