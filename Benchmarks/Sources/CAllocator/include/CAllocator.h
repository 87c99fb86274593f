#ifndef C_ALLOCATOR_H
#define C_ALLOCATOR_H

#include <stddef.h>

/// The bytes that the process has allocated, with what the allocator adds to each piece; 0 if it does
/// not say.
size_t allocator_bytes_in_use(void);

#endif
