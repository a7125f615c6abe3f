/* Snapshots come in so many classes of size (track/staging.h), of each of which a stream may keep a
 * slot (track/order.h). */
#ifndef SC_TRACK_STAGING_CLASSES_H
#define SC_TRACK_STAGING_CLASSES_H

enum { SC_STAGING_CLASSES = 4 };

#endif
