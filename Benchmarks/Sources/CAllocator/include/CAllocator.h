#pragma once
#include <stddef.h>

/// The bytes that the process has allocated, with what the allocator adds to each piece.
size_t allocator_bytes_in_use(void);
