declare module '*.sql' {
  const text: string;
  export default text;
}
declare module '*.md' {
  const text: string;
  export default text;
}
declare module '*.css' {
  const text: string;
  export default text;
}
declare module 'swagger-ui-dist/*' {
  const text: string;
  export default text;
}
declare module '*.sh' {
  const text: string;
  export default text;
}
