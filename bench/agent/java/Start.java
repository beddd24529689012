/** The smallest program: what is left when two runs of it are compared is the start of the JVM. */
public final class Start {
  private Start() {}

  public static void main(String[] arguments) {}
}
