/* How many sizes of slots for snapshots there are (track/staging.h). A stream may keep one slot of
 * each size (track/order.h). */

/* Terms (docs/glossary.md):
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 */

#ifndef SC_TRACK_STAGING_CLASSES_H
#define SC_TRACK_STAGING_CLASSES_H

enum { SC_STAGING_CLASSES = 4 };

#endif
