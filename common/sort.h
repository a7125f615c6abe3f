/* Sorts a few items in place, by the value of `most_of(item)`: the largest first; equal ones keep
 * their order. */
#ifndef SC_COMMON_SORT_H
#define SC_COMMON_SORT_H

#define SC_SORT(items, count, most_of)                                                             \
    for (unsigned next_ = 1; next_ < (count); next_++)                                             \
        for (unsigned at_ = next_; at_ > 0 && most_of(&(items)[at_]) > most_of(&(items)[at_ - 1]); \
             at_--) {                                                                              \
            __typeof__((items)[0]) item_ = (items)[at_];                                           \
            (items)[at_] = (items)[at_ - 1];                                                       \
            (items)[at_ - 1] = item_;                                                              \
        }

#endif
