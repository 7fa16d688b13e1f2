/* hog.h - occupies a GPU's multiprocessors or memory.  C and CUDA C++. */
#ifndef TRS_TEST_HOG_H
#define TRS_TEST_HOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Launches blocks of `threads` threads that spin for some nanoseconds on a cudaStream_t. */
int hog_start(int blocks, int threads, unsigned long long nanoseconds, void *stream);

/* Memory from cudaMalloc, or NULL. */
void *hog_take(unsigned long long bytes);
void hog_give(void *memory);

#ifdef __cplusplus
}
#endif
#endif
