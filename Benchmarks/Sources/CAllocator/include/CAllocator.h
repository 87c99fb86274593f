#pragma once
#include <stddef.h>

/// The number of bytes that the process has allocated, including the allocator's overhead for each block.
size_t allocator_bytes_in_use(void);
