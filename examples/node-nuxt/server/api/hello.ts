export default defineEventHandler(() => ({ node: process.version }))
