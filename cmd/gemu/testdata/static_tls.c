// A program whose library has as much static thread-local storage as that of rustc.
#ifdef LIBRARY
__thread char storage[23688];

char *first(void) { return storage; }
#else
char *first(void);

int main(void) { return *first(); }
#endif
