#include "CAllocator.h"

// In C, because the C library's own module leaves these headers out.
#if defined(__APPLE__)
#include <malloc/malloc.h>

size_t allocator_bytes_in_use(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
}
#else
#include <malloc.h>

size_t allocator_bytes_in_use(void) {
  // Small blocks of all threads, and large ones, which are mapped one by one.
  struct mallinfo2 statistics = mallinfo2();
  return statistics.uordblks + statistics.hblkhd;
}
#endif
