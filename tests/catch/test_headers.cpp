// What test_headers.hpp is precompiled for.
int main() {}
