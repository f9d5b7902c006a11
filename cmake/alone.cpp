// Links one library whole and alone (cmake/paddock_layers.cmake).
int main() {
}
